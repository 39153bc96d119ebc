import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  dir: string;
  remove(): Promise<void>;
}

/** Mounts a file system of this size; null where mounting is not possible. */
export async function mountSmall(megabytes: number): Promise<SmallDisk | null> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'marquee-test', dir], {
      stdio: 'ignore',
    });
  } catch {
    await rmdir(dir);
    return null;
  }
  await chmod(dir, 0o755);
  return {
    dir,
    async remove() {
      execFileSync('umount', ['-l', dir]);
      await rmdir(dir);
    },
  };
}
