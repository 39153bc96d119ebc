import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HardwareKind } from '../../kernel/video-codecs.ts';

/** Parts of the file system that the sandbox exposes for device nodes. */
export interface ShownDevices {
  /** Arguments for bubblewrap that bind the nodes. */
  nodes: string[];
  /** Arguments for bubblewrap that bind the files libraries read about a graphics device. */
  facts: string[];
  /** All that is shown. */
  paths: string[];
  /** Groups whose members may open them, in addition to the owner. */
  groups: number[];
}

const NVIDIA = /^nvidia(?:\d+|ctl|-uvm|-uvm-tools)$/;

/** Lists the device nodes available for an interface: render nodes and those of NVIDIA, and no others. */
export async function deviceNodes(kind: HardwareKind, vaapiDevice: string): Promise<string[]> {
  if (kind === 'vaapi') return (await isDevice(vaapiDevice)) ? [vaapiDevice] : [];
  if (kind !== 'nvenc') return [];
  const names = await readdir('/dev').catch(() => []);
  return names.filter((name) => NVIDIA.test(name)).map((name) => join('/dev', name));
}

async function isDevice(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isCharacterDevice(),
    () => false,
  );
}

/** @param paths entries that are not devices of this machine are skipped. */
export async function showDevices(paths: readonly string[]): Promise<ShownDevices> {
  const shown: ShownDevices = { nodes: [], facts: [], paths: [], groups: [] };
  for (const path of paths) {
    const found = await stat(path).catch(() => null);
    if (found === null || !found.isCharacterDevice()) continue;
    shown.nodes.push('--dev-bind', path, path);
    shown.paths.push(path);
    // Root's group is never added.
    if (found.gid !== 0 && !shown.groups.includes(found.gid)) shown.groups.push(found.gid);
    await addFacts(shown, found.rdev);
  }
  return shown;
}

/** libdrm finds a device by the number of its node, and reads its vendor there. */
async function addFacts(shown: ShownDevices, device: number): Promise<void> {
  const link = `/sys/dev/char/${majorOf(device)}:${minorOf(device)}`;
  const [node, folder] = await Promise.all([link, `${link}/device`].map((path) => realpath(path))).catch(
    () => [],
  );
  if (node === undefined || folder === undefined) return;
  shown.facts.push('--ro-bind-try', folder, folder, '--symlink', node, link);
  shown.paths.push(folder, link);
}

/** Extracts the major number, as packed by the Linux kernel. */
const majorOf = (device: number) => (device >>> 8) & 0xfff;
const minorOf = (device: number) => (device & 0xff) | ((device >>> 12) & 0xfff00);
