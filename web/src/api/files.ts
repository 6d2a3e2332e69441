/** Files that are dropped or chosen: recognised by the server where they are, or uploaded. */

import { ApiError, refusal } from ".";
import type { Added } from "./types";

/** As docs/http-api.md says: the blocks of a file that are compared. */
const BLOCKS = 16;
const BLOCK = 64 * 1024;

/** Files that belong together have one batch; a companion is kept for the file that follows it. */
export interface Sending {
  file: File;
  batch: number;
  companion: boolean;
}

const CHANGED = "the file changed or vanished while it was read";

function address(route: string, { file, batch, companion }: Sending): string {
  const query = new URLSearchParams({
    name: file.name,
    size: String(file.size),
    modified: String(file.lastModified),
    batch: String(batch),
    companion: String(companion),
  });
  return `/api/logs/${route}?${query.toString()}`;
}

/** The parts of a file that the server compares. */
export function samples(file: Blob): Blob {
  if (file.size <= BLOCKS * BLOCK) return file;
  const step = Math.floor((file.size - BLOCK) / (BLOCKS - 1));
  return new Blob(Array.from({ length: BLOCKS }, (_, place) => file.slice(place * step, place * step + BLOCK)));
}

/** Opens a file where it is, if the server knows it. Throws if it could not even be uploaded. */
export async function postKnown(sending: Sending): Promise<Added> {
  let body: ArrayBuffer;
  try {
    body = await samples(sending.file).arrayBuffer();
  } catch {
    throw new ApiError(0, "file-changed", CHANGED, null);
  }
  const headers = { "content-type": "application/octet-stream" };
  const response = await fetch(address("known", sending), {
    method: "POST",
    credentials: "same-origin",
    headers,
    body,
  });
  if (!response.ok) throw refusal(response.status, await response.text());
  return (await response.json()) as Added;
}

/** Uploads a file; `onprogress` hears which share of it is on its way. */
export function postUpload(sending: Sending, onprogress: (share: number) => void, signal: AbortSignal): Promise<Added> {
  return new Promise((resolve, reject) => {
    // Only this kind of request reports its progress.
    const request = new XMLHttpRequest();
    request.open("POST", address("upload", sending));
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = (event) => onprogress(event.total > 0 ? event.loaded / event.total : 1);
    request.onload = () => {
      if (request.status === 200) resolve(JSON.parse(request.responseText) as Added);
      else reject(refusal(request.status, request.responseText));
    };
    request.onerror = () => void whyNot(sending.file).then(reject);
    request.onabort = () => reject(new ApiError(0, "cancelled", "cancelled", null));
    signal.addEventListener("abort", () => request.abort());
    request.send(sending.file);
  });
}

/** Why there is no answer: the file cannot be read any more, or the server is gone. */
async function whyNot(file: File): Promise<ApiError> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return new ApiError(0, "no-answer", "the server did not answer", "Is logpose open still running?");
  } catch {
    return new ApiError(0, "file-changed", CHANGED, null);
  }
}
