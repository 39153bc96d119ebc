import { readFile } from 'node:fs/promises';

async function descendants(pid: string): Promise<string[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = list.split(' ').filter((child) => child !== '');
  return [...children, ...(await Promise.all(children.map(descendants))).flat()];
}

/** The most memory that a program under this process has taken while `work` ran, in megabytes. */
export async function peakOfChildren(work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  const look = async () => {
    for (const pid of await descendants(String(process.pid))) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
    }
  };
  const timer = setInterval(() => void look(), 10);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return peak;
}
