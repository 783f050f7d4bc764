/** A whole store: the six methods over a map. docs/stores/write-a-store.md quotes it. */

import { StoreError } from 'memdir';
import type { Edit, Entry, Store } from 'memdir';

const ROOT = '/memories';

/** Files and directories by path. The content of a directory is null. */
export class MapStore implements Store {
  readonly #tree = new Map<string, Uint8Array | null>([[ROOT, null]]);

  // No method awaits, so no other call comes between its steps, and it needs no lock.

  read(path: string): Uint8Array {
    const content = this.#content(path);
    if (content === null) throw new StoreError('EISDIR');
    return content;
  }

  list(path: string): Entry[] {
    if (this.#content(path) !== null) throw new StoreError('ENOTDIR');
    return [...this.#tree]
      .filter(([below]) => parentOf(below) === path)
      .map(([below, content]) =>
        content ? { path: below, size: content.length } : { path: below },
      );
  }

  write(path: string, content: Uint8Array, overwrite: boolean): void {
    if (this.#tree.has(path) && !(overwrite && this.#tree.get(path))) {
      throw new StoreError('EEXIST');
    }
    this.#makeParents(path);
    this.#tree.set(path, content);
  }

  update(path: string, edit: Edit): void {
    const edited = edit(this.read(path));
    if (edited) this.#tree.set(path, edited);
  }

  delete(path: string): void {
    this.#content(path);
    for (const below of this.#withAllBelow(path)) this.#tree.delete(below);
  }

  rename(from: string, to: string): void {
    const content = this.#content(from);
    if (this.#tree.has(to)) throw new StoreError('EEXIST');
    if (content === null && to.startsWith(`${from}/`)) throw new StoreError('EINVAL');
    const moved = this.#withAllBelow(from).map(
      (path) => [path, to + path.slice(from.length)] as const,
    );
    const tooLong = (path: string) =>
      path.split('/').length > 66 || new TextEncoder().encode(path).length > 4096;
    if (moved.some(([, after]) => tooLong(after))) throw new StoreError('ENAMETOOLONG');
    this.#makeParents(to);
    for (const [before, after] of moved) {
      this.#tree.set(after, this.#content(before));
      this.#tree.delete(before);
    }
  }

  #content(path: string): Uint8Array | null {
    const content = this.#tree.get(path);
    if (content === undefined) throw new StoreError('ENOENT');
    return content;
  }

  #withAllBelow(path: string): string[] {
    return [...this.#tree.keys()].filter((below) => below === path || below.startsWith(`${path}/`));
  }

  /** Adds the missing directories above a path, or none of them if one is a file. */
  #makeParents(path: string): void {
    const missing: string[] = [];
    let above = parentOf(path);
    for (; !this.#tree.has(above); above = parentOf(above)) missing.push(above);
    if (this.#tree.get(above) !== null) throw new StoreError('ENOTDIR');
    for (const directory of missing) this.#tree.set(directory, null);
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
