/** The keys of views. Each has one meaning in every view that knows it, and none in the window around them. */

export interface ViewKey {
  /** As `nameOf` writes it. */
  keys: string[];
  title: string;
  /** The kinds of views that know it. */
  views: string[];
}

export const VIEW_KEYS = {
  showAll: { keys: ["A"], title: "Show all", views: ["xy", "field", "scene", "carla"] },
  zoomIn: { keys: ["Z"], title: "Zoom the picture in", views: ["xy", "field", "scene", "carla"] },
  zoomOut: { keys: ["Shift+Z"], title: "Zoom the picture out", views: ["xy", "field", "scene", "carla"] },
  left: { keys: ["Ctrl+←"], title: "Move or turn the picture, previous column", views: ["table", "field", "scene"] },
  right: { keys: ["Ctrl+→"], title: "Move or turn the picture, next column", views: ["table", "field", "scene"] },
  up: { keys: ["Ctrl+↑"], title: "Move the picture up", views: ["field"] },
  down: { keys: ["Ctrl+↓"], title: "Move the picture down", views: ["field"] },
  rotate: { keys: ["O"], title: "Rotate the field, heading up", views: ["field", "carla"] },
  follow: { keys: ["C"], title: "Follow the robot", views: ["field"] },
  nextActor: { keys: ["P"], title: "Follow the next actor", views: ["carla"] },
  previousActor: { keys: ["Shift+P"], title: "Follow the previous actor", views: ["carla"] },
  measure: { keys: ["U"], title: "Measure", views: ["field"] },
  heat: { keys: ["W"], title: "Heat map", views: ["field"] },
  top: { keys: ["K"], title: "Look from above", views: ["scene"] },
  side: { keys: ["J"], title: "Look from the side", views: ["scene"] },
  corner: { keys: ["I"], title: "Look from a corner", views: ["scene"] },
  lock: { keys: ["Y"], title: "Lock or fit the axes", views: ["graph"] },
  statistics: { keys: ["S"], title: "Show statistics", views: ["graph"] },
  find: { keys: ["Ctrl+F"], title: "Find a message", views: ["console"] },
  findNext: { keys: ["F3"], title: "Find the next message", views: ["console"] },
  findPrevious: { keys: ["Shift+F3"], title: "Find the previous message", views: ["console"] },
} as const satisfies Record<string, ViewKey>;

export type ViewCommand = keyof typeof VIEW_KEYS;

const byKey = new Map<string, ViewCommand>(
  Object.entries(VIEW_KEYS).flatMap(([command, { keys }]) => keys.map((key) => [key, command as ViewCommand] as const)),
);

/** What a key means in the views that know it. */
export const viewCommand = (key: string): ViewCommand | undefined => byKey.get(key);
