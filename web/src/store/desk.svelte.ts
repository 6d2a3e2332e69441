/** What lies above the window for a moment. */

class Desk {
  palette = $state(false);
  help = $state(false);
  /** Whether the window to add logs is open. */
  adding = $state(false);
  /** The log whose facts are shown. */
  facts = $state<number | null>(null);
  /** Whether the list of layouts is open. */
  layouts = $state(false);
  /** What was made of a layout of another program. */
  imported = $state.raw<{ name: string; version: string; tabs: number; lost: string[] } | null>(null);
  /** The tab or pane whose title is edited. */
  renaming = $state<string | null>(null);
  /** Where the time is typed. */
  typingTime = $state(false);
  /** What is being dragged within the window: the id of a pane or of a tab. */
  dragged = $state<{ kind: "pane" | "tab"; id: string } | null>(null);
  /** Whether series are being dragged. */
  carrying = $state(false);
}

export const desk = new Desk();
