import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HardwareKind } from '../../kernel/video-codecs.ts';

/** What the sandbox has to show for device nodes. */
export interface ShownDevices {
  /** Arguments of bubblewrap that make the nodes. */
  nodes: string[];
  /** The same for what libraries read of a graphics device. */
  facts: string[];
  /** All that is shown. */
  paths: string[];
  /** Who may open them, beside their owner. */
  groups: number[];
}

const NVIDIA = /^nvidia(?:\d+|ctl|-uvm|-uvm-tools)$/;

/** The device nodes that there are for an interface: render nodes and those of NVIDIA, and no others. */
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

/** @param paths what is none of the machine's devices is left out. */
export async function showDevices(paths: readonly string[]): Promise<ShownDevices> {
  const shown: ShownDevices = { nodes: [], facts: [], paths: [], groups: [] };
  for (const path of paths) {
    const found = await stat(path).catch(() => null);
    if (found === null || !found.isCharacterDevice()) continue;
    shown.nodes.push('--dev-bind', path, path);
    shown.paths.push(path);
    // Of root's group nobody is made a member.
    if (found.gid !== 0 && !shown.groups.includes(found.gid)) shown.groups.push(found.gid);
    await addFacts(shown, found.rdev);
  }
  return shown;
}

/** libdrm finds out by the number of a node which device it is of, and reads there who made it. */
async function addFacts(shown: ShownDevices, device: number): Promise<void> {
  const link = `/sys/dev/char/${majorOf(device)}:${minorOf(device)}`;
  const [node, folder] = await Promise.all([link, `${link}/device`].map((path) => realpath(path))).catch(
    () => [],
  );
  if (node === undefined || folder === undefined) return;
  shown.facts.push('--ro-bind-try', folder, folder, '--symlink', node, link);
  shown.paths.push(folder, link);
}

/** As the kernel of Linux packs them. */
const majorOf = (device: number) => (device >>> 8) & 0xfff;
const minorOf = (device: number) => (device & 0xff) | ((device >>> 12) & 0xfff00);
