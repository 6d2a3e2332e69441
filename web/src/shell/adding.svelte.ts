/** Adds logs to the session, one after the other, and closes them. */

import { postClose, postConnect, postOpen, ApiError, type Added } from "../api";
import { postKnown, postUpload, type Sending } from "../api/files";
import { messageOf } from "../api/later";
import { clock } from "../store/clock.svelte";
import { layout } from "../store/layout.svelte";
import { logs } from "../store/session.svelte";
import { sidebar } from "../store/sidebar.svelte";
import { toasts } from "../store/toasts.svelte";
import { traces } from "../store/traces.svelte";
import { addPreset, applyPreset } from "./actions";

/** A log on its way. */
export interface Job {
  id: number;
  name: string;
  state: "waiting" | "looking" | "uploading" | "opening" | "done" | "failed" | "cancelled";
  /** The share that was uploaded. */
  share: number;
  /** Why it failed, and what would help. */
  text: string;
  help: string | null;
}

/** File systems take no longer names, and neither does the server. */
const LONGEST_NAME = 255;

class Adding {
  jobs = $state<Job[]>([]);
  readonly busy = $derived(this.jobs.some((job) => !isOver(job)));
  readonly failed = $derived(this.jobs.filter((job) => job.state === "failed"));
  readonly done = $derived(this.jobs.filter((job) => job.state === "done").length);
  #next = 1;
  #work: { job: Job; run: (job: Job) => Promise<Added> }[] = [];
  #running = false;
  #abort = new AbortController();

  /** Adds what was dropped. Folders and files that cannot be read are reported, and the rest goes on. */
  drop(data: DataTransfer): void {
    this.#begin();
    const items = [...data.items].filter((item) => item.kind === "file");
    const folders = items.map((item) => item.webkitGetAsEntry()).filter((entry) => entry?.isDirectory);
    for (const folder of folders) {
      this.#fail(folder?.name ?? "", "is a folder", "Drop the log files in it instead.");
    }
    const names = new Set(folders.map((folder) => folder?.name));
    this.#files([...data.files].filter((file) => !(names.has(file.name) && file.type === "")));
  }

  files(files: File[]): void {
    this.#begin();
    this.#files(files);
  }

  #files(files: File[]): void {
    for (const group of pairs(files)) {
      const batch = Math.floor(Math.random() * 2 ** 32);
      group.forEach((file, place) => this.#file({ file, batch, companion: place < group.length - 1 }));
    }
  }

  #file(sending: Sending): void {
    const { file } = sending;
    const bytes = new TextEncoder().encode(file.name).length;
    if (bytes > LONGEST_NAME) {
      this.#fail(file.name, `has a name of ${bytes} bytes, at most ${LONGEST_NAME} are possible`, "Rename the file.");
      return;
    }
    this.#push(file.name, async (job) => {
      job.state = "looking";
      const known = await postKnown(sending);
      if (known.log !== null) return known;
      job.state = "uploading";
      return postUpload(
        sending,
        (share) => {
          job.share = share;
          if (share >= 1 && job.state === "uploading") job.state = "opening";
        },
        this.#abort.signal,
      );
    });
  }

  recent(id: string, name: string): void {
    this.#begin();
    this.#push(name, (job) => this.#opening(job, () => postOpen({ recent: id })));
  }

  demo(name: string): void {
    this.#begin();
    this.#push(name, (job) => this.#opening(job, () => postOpen({ demo: name })));
  }

  lake(name: string): void {
    this.#begin();
    this.#push(name, (job) => this.#opening(job, () => postOpen({ lake: name })));
  }

  /** Connects to a robot; throws if the address is none. */
  async connect(address: string): Promise<void> {
    const { log } = await postConnect({ address });
    await logs.load();
    if (log !== null) sidebar.unfold(log);
  }

  async close(log: number): Promise<void> {
    logs.letGo(log);
    traces.forget(log);
    try {
      await postClose(log);
    } catch (error) {
      toasts.show(messageOf(error), "error");
    }
    await logs.load().catch((error: unknown) => toasts.show(messageOf(error), "error"));
  }

  /** Gives up what has not been added yet. */
  cancel(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    for (const { job } of this.#work) job.state = "cancelled";
    this.#work = [];
  }

  /** Forgets what is over. */
  clear(): void {
    this.jobs = this.jobs.filter((job) => !isOver(job));
  }

  /** Clears earlier messages. */
  #begin(): void {
    if (!this.busy) this.clear();
  }

  async #opening(job: Job, ask: () => Promise<Added>): Promise<Added> {
    job.state = "opening";
    return ask();
  }

  #push(name: string, run: (job: Job) => Promise<Added>): void {
    this.jobs.push({ id: this.#next++, name, state: "waiting", share: 0, text: "", help: null });
    const job = this.jobs.at(-1);
    if (job) this.#work.push({ job, run });
    void this.#run();
  }

  #fail(name: string, text: string, help: string): void {
    this.jobs.push({ id: this.#next++, name, state: "failed", share: 0, text, help });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    const before = new Set(logs.opened.map((log) => log.id));
    const untouched = before.size === 0;
    let changed = false;
    for (let next = this.#work.shift(); next; next = this.#work.shift()) {
      const { job, run } = next;
      try {
        const { log, already } = await run(job);
        job.state = "done";
        if (already && log !== null) toasts.show(`${job.name} is open already`);
        // The first one is shown at once, others when all have come: each costs the page some work.
        changed ||= log !== null && !already;
        if (changed && logs.opened.length === 0) await logs.load();
      } catch (error) {
        if (error instanceof ApiError && error.code === "cancelled") job.state = "cancelled";
        else {
          job.state = "failed";
          job.text = messageOf(error);
          job.help = error instanceof ApiError ? error.help : null;
        }
      }
    }
    this.#running = false;
    if (changed) await this.#show(before, untouched);
    if (this.failed.length === 0) setTimeout(() => !this.busy && this.failed.length === 0 && this.clear(), 1500);
  }

  /** Shows the logs that are new. */
  async #show(before: Set<number>, untouched: boolean): Promise<void> {
    await logs.load().catch((error: unknown) => toasts.show(messageOf(error), "error"));
    const added = logs.opened.filter((log) => !before.has(log.id));
    for (const log of added) sidebar.unfold(log.id);
    if (added.length === 0) return;
    // Where nothing was shown before and nobody changed anything, whoever dropped several files wants to see all of them.
    if (untouched && !layout.canUndo) {
      if (added.length > 1) {
        logs.showAll();
        logs.begin(await applyPreset(undefined, () => !layout.canUndo));
        layout.forget();
      }
      return;
    }
    const what = added.length === 1 ? (added[0]?.name ?? "") : `${added.length} logs`;
    toasts.show(`Added ${what}`, "info", {
      label: "Show",
      run: () => {
        clock.showAll();
        void addPreset(added);
      },
    });
  }
}

const isOver = (job: Job): boolean => job.state === "done" || job.state === "failed" || job.state === "cancelled";

/** Files that are one log together, the one that is opened last; all others alone. */
function pairs(files: File[]): File[][] {
  const stem = (file: File) => /^(.*)\.(dslog|dsevents)(\.(?:gz|zst|xz|bz2))?$/i.exec(file.name);
  const groups = new Map<string, File[]>();
  files.forEach((file, place) => {
    const found = stem(file);
    const key = found ? `pair ${found[1] ?? ""}` : `${place}`;
    const group = groups.get(key);
    // The records are opened, and find the events beside them.
    if (group && /\.dslog/i.test(file.name)) group.push(file);
    else if (group) group.unshift(file);
    else groups.set(key, [file]);
  });
  return [...groups.values()];
}

export const adding = new Adding();

/** Opens the file dialog. */
export function chooseLogs(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.hidden = true;
  input.onchange = () => {
    adding.files([...(input.files ?? [])]);
    input.remove();
  };
  input.oncancel = () => input.remove();
  // Within the page, so that it lives until a file is chosen.
  document.body.append(input);
  input.click();
}
