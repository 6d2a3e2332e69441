import type { ViewDefinition } from "../../model/view";
import Board from "./Board.svelte";
import { addBoard, emptyBoard, restoreBoard, type BoardConfig } from "./config";

export { autoBoard } from "./config";

const board: ViewDefinition<BoardConfig> = {
  kind: "board",
  title: "Board",
  about: "A Refloat ride: tilt, footpads, duty and current headroom",
  icon: "M1 7l2.5 1.500h9L15 7M8 12.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM1.5 13.500h13",
  component: Board,
  empty: () => emptyBoard(),
  restore: restoreBoard,
  add: (config, refs) => refs.filter((ref) => addBoard(config, ref)).length > 0,
};

export default board;
