/**
 * A memory in a table like those of browsers: a complete custom store, to use unchanged or to learn
 * from.
 *
 * It needs from the table only features of IndexedDB: rows in the order of their keys, and
 * transactions that write several of them at once. `MapTable` is the smallest such table, a `Map`.
 *
 * ```ts
 * const memory = new Memory(new TableStore(new MapTable()));
 * ```
 */

import { StoreError } from 'memdir';
import type { Edit, Entry, Store } from 'memdir';

/** A file, or a directory, which has no content. */
export interface Row {
  content?: Uint8Array;
  /** Milliseconds since 1970. */
  modified: number;
  /** The same for the last recorded access, if any. */
  accessed?: number | undefined;
}

/** Rows by path. */
export interface Table {
  /** In IndexedDB: `objectStore.get(path)`. */
  get(path: string): Promise<Row | undefined>;

  /**
   * All rows whose paths have this prefix. In IndexedDB: a cursor over
   * `IDBKeyRange.bound(prefix, prefix + '\uffff')`.
   */
  startingWith(prefix: string): Promise<[path: string, row: Row][]>;

  /**
   * Puts rows, and deletes those that are undefined, all or none. In IndexedDB: `put` and `delete`
   * in one transaction.
   */
  change(rows: Map<string, Row | undefined>): Promise<void>;
}

/** A table in a `Map`, which lasts as long as the object. */
export class MapTable implements Table {
  readonly #rows = new Map<string, Row>();

  async get(path: string): Promise<Row | undefined> {
    return this.#rows.get(path);
  }

  async startingWith(prefix: string): Promise<[string, Row][]> {
    return [...this.#rows].filter(([path]) => path.startsWith(prefix));
  }

  async change(rows: Map<string, Row | undefined>): Promise<void> {
    for (const [path, row] of rows) {
      if (row) {
        this.#rows.set(path, row);
      } else {
        this.#rows.delete(path);
      }
    }
  }
}

/** Runs one task after the other. */
export type Exclusively = <T>(work: () => Promise<T>) => Promise<T>;

/** Within one program, or one tab. */
export function oneAfterTheOther(): Exclusively {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

const ROOT = '/memories';
const DIRECTORY: Row = { modified: 0 };

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** Keeps a memory in a table. */
export class TableStore implements Store {
  readonly #table: Table;
  readonly #exclusively: Exclusively;

  /**
   * @param exclusively How writers exclude each other, because they read rows before they change
   *   some. For the tabs of a browser it is `(work) => navigator.locks.request('memories', work)`.
   */
  constructor(table: Table, exclusively: Exclusively = oneAfterTheOther()) {
    this.#table = table;
    this.#exclusively = exclusively;
  }

  // Reading is one call of the table, and needs no lock.

  async read(path: string): Promise<Uint8Array> {
    return (await this.#file(path)).content;
  }

  async list(path: string): Promise<Entry[]> {
    const below = await this.#table.startingWith(`${path}/`);
    if (below.length === 0 && (await this.#existing(path)).content) {
      throw new StoreError('ENOTDIR');
    }
    return below
      .filter(([child]) => parentOf(child) === path)
      .map(([child, { content, modified, accessed }]) =>
        content ? { path: child, size: content.length, modified, accessed } : { path: child },
      );
  }

  async modified(path: string): Promise<number> {
    return (await this.#file(path)).modified;
  }

  // A change first reads and then writes, in one change of the table: all of it or nothing.

  write(path: string, content: Uint8Array, overwrite: boolean): Promise<void> {
    return this.#exclusively(async () => {
      const found = await this.#row(path);
      if (found && !(overwrite && found.content)) {
        throw new StoreError('EEXIST');
      }
      const rows = await this.#missingParents(path);
      rows.set(path, { content, modified: Date.now() });
      await this.#table.change(rows);
    });
  }

  update(path: string, edit: Edit): Promise<void> {
    return this.#exclusively(async () => {
      const content = edit((await this.#file(path)).content);
      if (content) {
        await this.#table.change(new Map([[path, { content, modified: Date.now() }]]));
      }
    });
  }

  setModified(path: string, time: number): Promise<void> {
    return this.#exclusively(async () => {
      const file = await this.#file(path);
      await this.#table.change(new Map([[path, { ...file, modified: time }]]));
    });
  }

  recordAccess(path: string, time: number): Promise<void> {
    return this.#exclusively(async () => {
      const file = await this.#file(path);
      await this.#table.change(new Map([[path, { ...file, accessed: time }]]));
    });
  }

  deleteUnused(path: string, since: number): Promise<boolean> {
    return this.#exclusively(async () => {
      const row = await this.#row(path);
      const unused =
        row?.content !== undefined && Math.max(row.modified, row.accessed ?? row.modified) < since;
      if (unused) {
        await this.#table.change(new Map([[path, undefined]]));
      }
      return unused;
    });
  }

  delete(path: string): Promise<void> {
    return this.#exclusively(async () => {
      const tree = await this.#tree(path);
      await this.#table.change(new Map([...tree].map(([gone]) => [gone, undefined])));
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#exclusively(async () => {
      const tree = await this.#tree(from);
      if (await this.#row(to)) {
        throw new StoreError('EEXIST');
      }
      if (to.startsWith(`${from}/`) && !tree.get(from)?.content) {
        throw new StoreError('EINVAL');
      }
      const rows = await this.#missingParents(to);
      for (const [path, row] of tree) {
        const moved = to + path.slice(from.length);
        if (moved.split('/').length > 66 || new TextEncoder().encode(moved).length > 4096) {
          throw new StoreError('ENAMETOOLONG');
        }
        rows.set(path, undefined);
        rows.set(moved, row);
      }
      await this.#table.change(rows);
    });
  }

  /** The row at a path. The root always exists. */
  async #row(path: string): Promise<Row | undefined> {
    return path === ROOT ? DIRECTORY : this.#table.get(path);
  }

  async #existing(path: string): Promise<Row> {
    const row = await this.#row(path);
    if (!row) {
      throw new StoreError('ENOENT');
    }
    return row;
  }

  async #file(path: string): Promise<Row & { content: Uint8Array }> {
    const { content, ...times } = await this.#existing(path);
    if (!content) {
      throw new StoreError('EISDIR');
    }
    return { content, ...times };
  }

  /** A path and everything below it. */
  async #tree(path: string): Promise<Map<string, Row>> {
    const row = await this.#existing(path);
    return new Map([[path, row], ...(await this.#table.startingWith(`${path}/`))]);
  }

  /** The missing directories of a path. */
  async #missingParents(path: string): Promise<Map<string, Row | undefined>> {
    const missing = new Map<string, Row | undefined>();
    for (let above = parentOf(path); ; above = parentOf(above)) {
      const found = await this.#row(above);
      if (found?.content) {
        throw new StoreError('ENOTDIR');
      }
      if (found) {
        return missing;
      }
      missing.set(above, DIRECTORY);
    }
  }
}
