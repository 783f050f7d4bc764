// Stores written in JavaScript, as a user of the package would write them.

import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { StoreError } from 'memdir';
import type { Edit, Entry, Store } from 'memdir';

/** `examples/node/table_store.ts`, compiled on its own. */
const example = (await import(new URL('examples/table_store.js', import.meta.url).href)) as {
  TableStore: new (table: unknown) => Store;
  MapTable: new () => unknown;
};

/** A new store from the example. */
export function tableStore(): Store {
  return new example.TableStore(new example.MapTable());
}

const smallest = (await import(new URL('examples/map_store.js', import.meta.url).href)) as {
  MapStore: new () => Store;
};

/** A new store from `examples/node/map_store.ts`. */
export function smallestStore(): Store {
  return new smallest.MapStore();
}

const ROOT = '/memories';

/** True if the path is not valid in a command. */
function unnameable(path: string): boolean {
  return path.split('/').length - 2 > 64 || Buffer.byteLength(path) > 4096;
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** In a map. Every method answers synchronously. */
export class MapStore implements Store {
  /** Contents by path; a directory has no content. */
  protected readonly nodes = new Map<string, Uint8Array | undefined>([[ROOT, undefined]]);
  /** When files were written and accessed, by their contents. */
  readonly #times = new WeakMap<Uint8Array, { modified: number; accessed?: number }>();

  read(path: string): Uint8Array {
    const content = this.nodes.get(path);
    if (content === undefined) {
      throw new StoreError(this.nodes.has(path) ? 'EISDIR' : 'ENOENT');
    }
    return content;
  }

  list(path: string): Entry[] {
    if (!this.nodes.has(path)) {
      throw new StoreError('ENOENT');
    }
    if (this.nodes.get(path) !== undefined) {
      throw new StoreError('ENOTDIR');
    }
    return [...this.nodes]
      .filter(([found]) => parent(found) === path)
      .map(([found, content]) => ({
        path: found,
        size: content?.length,
        ...(content && this.#times.get(content)),
      }));
  }

  write(path: string, content: Uint8Array, overwrite: boolean): void {
    if (this.nodes.has(path) && !(overwrite && this.nodes.get(path))) {
      throw new StoreError('EEXIST');
    }
    this.#makeParents(path);
    this.#put(path, content);
  }

  update(path: string, edit: Edit): void {
    const edited = edit(this.read(path));
    if (edited) {
      this.#put(path, edited);
    }
  }

  setModified(path: string, modified: number): void {
    const content = this.read(path);
    this.#times.set(content, { ...this.#times.get(content), modified });
  }

  recordAccess(path: string, accessed: number): void {
    const content = this.read(path);
    this.#times.set(content, { ...this.#times.get(content)!, accessed });
  }

  deleteUnused(path: string, since: number): boolean {
    const content = this.nodes.get(path);
    if (!content) {
      return false;
    }
    const { modified, accessed } = this.#times.get(content)!;
    return Math.max(modified, accessed ?? modified) < since && this.nodes.delete(path);
  }

  #put(path: string, content: Uint8Array): void {
    this.nodes.set(path, content);
    this.#times.set(content, { modified: Date.now() });
  }

  delete(path: string): void {
    if (!this.nodes.has(path)) {
      throw new StoreError('ENOENT');
    }
    for (const found of this.#subtree(path)) {
      this.nodes.delete(found);
    }
  }

  rename(from: string, to: string): void {
    if (!this.nodes.has(from)) {
      throw new StoreError('ENOENT');
    }
    if (this.nodes.has(to)) {
      throw new StoreError('EEXIST');
    }
    if (to.startsWith(`${from}/`) && this.nodes.get(from) === undefined) {
      throw new StoreError('EINVAL');
    }
    const moved = (found: string) => to + found.slice(from.length);
    const subtree = this.#subtree(from);
    if (subtree.map(moved).some(unnameable)) {
      throw new StoreError('ENAMETOOLONG');
    }
    this.#makeParents(to);
    for (const found of subtree) {
      this.nodes.set(moved(found), this.nodes.get(found));
      this.nodes.delete(found);
    }
  }

  #subtree(path: string): string[] {
    return [...this.nodes.keys()].filter((found) => found === path || found.startsWith(`${path}/`));
  }

  #makeParents(path: string): void {
    const missing: string[] = [];
    for (let above = parent(path); !this.nodes.has(above); above = parent(above)) {
      missing.push(above);
    }
    if (this.nodes.get(parent(missing.at(-1) ?? path)) !== undefined) {
      throw new StoreError('ENOTDIR');
    }
    for (const directory of missing) {
      this.nodes.set(directory, undefined);
    }
  }
}

/** Matches names in any case, and keeps the case of the first write. */
export class FoldingStore extends MapStore implements Store {
  readonly foldsCase = true;

  #kept(path: string): string {
    let kept = ROOT;
    for (const name of path.split('/').slice(2)) {
      const below = [...this.nodes.keys()].filter((found) => parent(found) === kept);
      const same = `${kept}/${name}`.toUpperCase();
      kept = below.find((found) => found.toUpperCase() === same) ?? `${kept}/${name}`;
    }
    return kept;
  }

  override read(path: string): Uint8Array {
    return super.read(this.#kept(path));
  }

  override list(path: string): Entry[] {
    const kept = this.#kept(path);
    return super
      .list(kept)
      .map((entry) => ({ ...entry, path: path + entry.path.slice(kept.length) }));
  }

  override write(path: string, content: Uint8Array, overwrite: boolean): void {
    super.write(this.#kept(path), content, overwrite);
  }

  override update(path: string, edit: Edit): void {
    super.update(this.#kept(path), edit);
  }

  override delete(path: string): void {
    super.delete(this.#kept(path));
  }

  override rename(from: string, to: string): void {
    super.rename(this.#kept(from), this.#kept(to));
  }
}

/** The same store with its own `open`. */
export class OpeningStore extends MapStore {
  opened = 0;

  open(path: string, depth: number): Uint8Array | Entry[] {
    this.opened += 1;
    if (!this.nodes.has(path)) {
      throw new StoreError('ENOENT');
    }
    const content = this.nodes.get(path);
    return content ?? this.#below(path, depth);
  }

  #below(path: string, depth: number): Entry[] {
    const hidden = (entry: Entry) => /\/(\.[^/]*|node_modules)$/.test(entry.path);
    return this.list(path)
      .filter((entry) => !hidden(entry))
      .flatMap((entry) =>
        depth > 1 && entry.size === undefined
          ? [entry, ...this.#below(entry.path, depth - 1)]
          : [entry],
      );
  }
}

/** Files below a directory, through `node:fs`. Its errors are passed on unchanged. */
export class FileStore implements Store {
  readonly #base: string;
  #last: Promise<unknown> = Promise.resolve();
  #made = 0;

  constructor(base: string) {
    this.#base = base;
  }

  static async at(base: string): Promise<FileStore> {
    await mkdir(join(base, ROOT));
    return new FileStore(base);
  }

  async read(path: string): Promise<Uint8Array> {
    try {
      return await readFile(this.#file(path));
    } catch (error) {
      throw this.#missing(error);
    }
  }

  async list(path: string): Promise<Entry[]> {
    await this.#existing(path);
    const names = await readdir(this.#file(path));
    const entries = names.map(async (name) => {
      try {
        const found = await stat(join(this.#file(path), name));
        return { path: `${path}/${name}`, size: found.isFile() ? found.size : undefined };
      } catch (error) {
        // Removed since its directory was listed.
        return undefined;
      }
    });
    return (await Promise.all(entries)).filter((entry) => entry !== undefined);
  }

  write(path: string, content: Uint8Array, overwrite: boolean): Promise<void> {
    return this.#alone(async () => {
      const found = await this.#found(path);
      if (found && !(overwrite && found.isFile())) {
        throw new StoreError('EEXIST');
      }
      await this.#makeParents(path);
      await this.#replace(path, content);
    });
  }

  update(path: string, edit: Edit): Promise<void> {
    return this.#alone(async () => {
      const edited = edit(await this.read(path));
      if (edited) {
        await this.#replace(path, edited);
      }
    });
  }

  delete(path: string): Promise<void> {
    return this.#alone(async () => {
      await this.#existing(path);
      await rm(this.#file(path), { recursive: true });
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#alone(async () => {
      const found = await this.#existing(from);
      if (await this.#found(to)) {
        throw new StoreError('EEXIST');
      }
      if (found.isDirectory() && to.startsWith(`${from}/`)) {
        throw new StoreError('EINVAL');
      }
      const below = await readdir(this.#file(from), { recursive: true }).catch(() => []);
      if (below.some((name) => unnameable(`${to}/${name}`))) {
        throw new StoreError('ENAMETOOLONG');
      }
      await this.#makeParents(to);
      await rename(this.#file(from), this.#file(to));
    });
  }

  #file(path: string): string {
    return join(this.#base, path);
  }

  /** If a parent is a file, the path does not exist. */
  #missing(error: unknown): unknown {
    return (error as { code?: string }).code === 'ENOTDIR' ? new StoreError('ENOENT') : error;
  }

  async #existing(path: string) {
    try {
      return await stat(this.#file(path));
    } catch (error) {
      throw this.#missing(error);
    }
  }

  async #found(path: string) {
    return this.#existing(path).catch(() => undefined);
  }

  async #makeParents(path: string): Promise<void> {
    for (let above = parent(path); ; above = parent(above)) {
      const found = await this.#found(above);
      if (found?.isFile()) {
        throw new StoreError('ENOTDIR');
      }
      if (found) {
        break;
      }
    }
    await mkdir(dirname(this.#file(path)), { recursive: true });
  }

  async #replace(path: string, content: Uint8Array): Promise<void> {
    const staged = join(this.#base, `staged-${(this.#made += 1)}`);
    await writeFile(staged, content);
    await rename(staged, this.#file(path));
  }

  /** Lets one writer run at a time. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
