import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MOST_OUTPUT = 2 ** 26;

async function logOf(args: string[]): Promise<string> {
  const { stderr } = await run('ffmpeg', ['-nostdin', '-v', 'info', ...args, '-f', 'null', '-'], {
    maxBuffer: MOST_OUTPUT,
  });
  return stderr;
}

/** Returns the times in seconds at which a part of the video turns bright. @param box `width:height:x:y` */
export async function flashesIn(path: string, box: string): Promise<number[]> {
  const filter = `crop=${box},signalstats,metadata=print:key=lavfi.signalstats.YAVG`;
  const log = await logOf(['-i', path, '-an', '-vf', filter]);
  const found = [...log.matchAll(/pts_time:([\d.]+)[\s\S]*?YAVG=([\d.]+)/g)];
  return risesOf(found.map(([, sec, level]) => [Number(sec), Number(level) > 150]));
}

/**
 * Returns the times in seconds at which a tone begins. @param frequency of the tone, so that others are
 * ignored.
 */
export async function beepsIn(path: string, frequency = 1000): Promise<number[]> {
  const filter = `bandpass=f=${frequency}:w=100,silencedetect=n=-35dB:d=0.2`;
  const log = await logOf(['-i', path, '-vn', '-af', filter]);
  return [...log.matchAll(/silence_end: ([\d.]+)/g)].map(([, sec]) => Number(sec));
}

function risesOf(states: readonly (readonly [number, boolean])[]): number[] {
  return states.flatMap(([sec, isOn], index) => (isOn && states[index - 1]?.[1] !== true ? [sec] : []));
}
