import { readdirSync, readFileSync } from 'node:fs';

/**
 * The proportional set size (proc_pid_smaps(5)) of a process and of all below it, summed by name: memory that several
 * share counts once in all.
 */
export function proportionalMegabytes(pid: number): { name: string; megabytes: number }[] {
  const parents = new Map(readdirSync('/proc').flatMap((entry) => parentOf(entry)));
  const isBelow = (one: number): boolean => {
    const parent = parents.get(one);
    return one === pid || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  const sums = new Map<string, number>();
  for (const one of parents.keys()) {
    if (!isBelow(one)) continue;
    const kilobytes = Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${one}/smaps_rollup`))?.[1] ?? 0);
    const [program = '', ...args] = read(`/proc/${one}/cmdline`).split('\0');
    const words = args.filter((arg) => /[.]m?[jt]s$/.test(arg)).map((arg) => arg.split('/').at(-1));
    const name = words[0] ?? program.split(/[/:]/).filter((part) => part !== '')[0] ?? String(one);
    const label = program.includes('postgres') ? 'PostgreSQL' : name;
    sums.set(label, (sums.get(label) ?? 0) + kilobytes / 1024);
  }
  return [...sums].map(([name, megabytes]) => ({ name, megabytes }));
}

function parentOf(entry: string): [number, number][] {
  if (!/^\d+$/.test(entry)) return [];
  const stat = read(`/proc/${entry}/stat`);
  return stat === '' ? [] : [[Number(entry), Number(stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[1])]];
}

/** Reads the file; empty for an ended process. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
