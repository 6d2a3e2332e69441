/** What a view is: the one seam between the window and what is in its panes. */

import type { Component } from "svelte";
import type { ViewCommand } from "./keys";
import type { SeriesRef } from "./series";

/** A line that reproduces what is shown, for the terminal or for SQL. */
export interface CommandLine {
  label: string;
  text: string;
}

/** Something that a pane can give away; `run` returns the file. */
export interface Export {
  label: string;
  /** The file's name with its extension. */
  file: string;
  run: () => Promise<Blob>;
}

/** What a view offers to the window: entries of its pane's menu, made when that opens, and answers to keys. */
export interface Offer {
  commands?: () => CommandLine[];
  exports?: () => Export[];
  keys?: Partial<Record<ViewCommand, () => void>>;
  /** Ends what goes on in the view, such as following an actor; `false` if nothing does. */
  cancel?: () => boolean;
}

export interface ViewProps<C> {
  /**
   * Its configuration: plain JSON inside a `$state` proxy. A view changes it in place; history, URL and files see it.
   */
  config: C;
  /** A view calls this once, to offer commands and exports. */
  offer: (offer: Offer) => void;
  /** Whether it is the pane that keys go to. */
  active: boolean;
}

export interface ViewDefinition<C = unknown> {
  /** In layouts and addresses. */
  kind: string;
  /** For people. */
  title: string;
  /** One sentence for the chooser. */
  about: string;
  /** Path data of an icon on a 16 by 16 grid, drawn with a stroke. */
  icon: string;
  component: Component<ViewProps<C>>;
  /** The configuration of a new view. */
  empty(): C;
  /** Reads a configuration from a file or a link. Never throws: invalid values become the default. */
  restore(data: unknown): C;
  /** Takes series that were dropped on it, or for which Enter was pressed; `false` if it cannot show them. */
  add(config: C, refs: SeriesRef[]): boolean;
}
