/** Graphs that stand above each other begin and end at the same pixels: each has the room that the widest axes need. */

export interface Gutters {
  left: number;
  right: number;
}

interface Place extends Gutters {
  /** Where the graph is on the page. */
  from: number;
  to: number;
}

/** Pixels by which the edges of a column may differ. */
const SLACK = 3;

class Column {
  readonly #places = new Map<object, Place>();
  /** Another number whenever a graph of a column needs other room. */
  version = $state(0);

  /** Tells what a graph needs; the answer is what it gets. */
  share(graph: object, from: number, to: number, need: Gutters): Gutters {
    const known = this.#places.get(graph);
    if (!known || known.from !== from || known.to !== to || known.left !== need.left || known.right !== need.right) {
      this.#places.set(graph, { from, to, ...need });
      this.version++;
    }
    let { left, right } = need;
    for (const place of this.#places.values()) {
      if (Math.abs(place.from - from) > SLACK || Math.abs(place.to - to) > SLACK) continue;
      left = Math.max(left, place.left);
      right = Math.max(right, place.right);
    }
    return { left, right };
  }

  drop(graph: object): void {
    if (this.#places.delete(graph)) this.version++;
  }
}

export const column = new Column();
