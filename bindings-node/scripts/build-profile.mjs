// Distinguishes debug builds from release builds, including binaries for other machines, which cannot be
// loaded here.
import { readFileSync } from 'node:fs';

/**
 * Returns `debug` or `release`; undefined if the file has no mark (`src/build_profile.rs`) or both.
 */
export function buildProfile(file) {
  const bytes = readFileSync(file);
  const found = ['debug', 'release'].filter((profile) =>
    bytes.includes(`memdir-build-profile=${profile};`),
  );
  return found.length === 1 ? found[0] : undefined;
}
