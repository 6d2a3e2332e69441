/** The time range that a view works on. */

export const RANGES = ["selection", "visible", "whole"] as const;
export type Range = (typeof RANGES)[number];
