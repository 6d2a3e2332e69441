/** How kinds of events look and are called. */

export interface Kind {
  name: string;
  /** Path data on a 16 by 16 grid. */
  icon: string;
}

const KINDS: Record<string, Kind> = {
  mode: { name: "Mode", icon: "M4 14V2.5M4 3h8l-2 2.8L12 8.5H4" },
  brownout: { name: "Brownout", icon: "M9 1.5 4 9h4l-1 5.5L12 7H8Z" },
  "low-battery": { name: "Low battery", icon: "M2 5h10.5v6H2ZM14.2 7v2M4.2 7v2" },
  error: { name: "Error", icon: "M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5ZM6 6l4 4M10 6l-4 4" },
  warning: { name: "Warning", icon: "M8 2 14.5 13.5h-13ZM8 6.5v3.2M8 11.6v.01" },
  collision: {
    name: "Collision",
    icon: "M8 1.5l1.3 4 4-1.8-1.8 4 4 1.3-4 1.3 1.8 4-4-1.8-1.3 3-1.3-3-4 1.8 1.8-4-4-1.3 4-1.3-1.8-4 4 1.8Z",
  },
  blocked: { name: "Blocked", icon: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM3.8 12.2l8.4-8.4" },
  pushback: { name: "Pushback", icon: "M13 8H4M7.5 4 3.5 8l4 4M13.5 3v10" },
  fault: {
    name: "Fault",
    icon: "M10.5 2.2a3.6 3.6 0 0 0-3.3 4.9L2.5 11.8l1.7 1.7 4.7-4.7a3.6 3.6 0 0 0 4.7-4.4L11.4 6.6 9.4 4.6Z",
  },
  link: {
    name: "Link",
    icon: "M6.5 9.5 9.5 6.5M7 5l1.6-1.6a2.8 2.8 0 0 1 4 4L11 9M9 11l-1.6 1.6a2.8 2.8 0 0 1-4-4L5 7",
  },
  problem: { name: "Problem", icon: "M4 2h5l3 3v3M4 2v12h4M9 2v3h3M10 10l4 4M14 10l-4 4" },
};

const OTHER = "M8 10.5A2.5 2.5 0 1 0 8 5.5a2.5 2.5 0 0 0 0 5Z";

/** Kinds in the order in which they are offered. */
export const ORDER: readonly string[] = Object.keys(KINDS);

export const kindOf = (kind: string): Kind =>
  KINDS[kind] ?? { name: kind.charAt(0).toUpperCase() + kind.slice(1), icon: OTHER };
