/** The views that this page has. They register themselves before the page starts, so that no store knows one. */

import type { ViewDefinition } from "../model/view";

const byKind = new Map<string, ViewDefinition>();

export function registerViews(views: ViewDefinition[]): void {
  for (const view of views) byKind.set(view.kind, view);
}

export const viewOf = (kind: string): ViewDefinition | undefined => byKind.get(kind);
