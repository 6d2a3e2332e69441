/** What the view of each pane offers, by the id of the pane. */

import type { Offer } from "../model/view";

export const offers = new Map<string, Offer>();
