import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { BINARY, LOGS } from "./base";

/** Makes the logs that all tests open. */
export default function setup(): void {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is not there: build logpose, or name it in LOGPOSE_BIN`);
  rmSync(LOGS, { recursive: true, force: true });
  execFileSync(BINARY, ["demo", LOGS], { stdio: "ignore" });
}
