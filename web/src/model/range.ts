/** The stretch of time that a view works on. */

export const RANGES = ["selection", "visible", "whole"] as const;
export type Range = (typeof RANGES)[number];
