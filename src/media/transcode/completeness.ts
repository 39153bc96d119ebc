import { type FileHandle, open } from 'node:fs/promises';
import { MediaFileError } from '../contract/index.ts';
import type { ProbedStream, ProbeReport } from './ffprobe.ts';
import type { PacketScan } from './scan.ts';

/** A file that has less of what its header promises is no video (docs/guides/processing.md#files-that-break-off). */
const ENOUGH = 0.95;
/** Of a header that counts a last picture which is not there. */
const ROUNDING_SEC = 0.1;

interface Found {
  path: string;
  report: ProbeReport;
  video: ProbedStream;
  scan: PacketScan;
}

/**
 * Compares what the header declares with the packets that were found. Transport streams, Ogg and live recordings (fragmented
 * MP4, Matroska without a duration) declare nothing: they are taken as far as they go.
 *
 * @throws {MediaFileError} CORRUPT_INPUT, whose message has both lengths.
 */
export async function checkComplete(found: Found): Promise<void> {
  const { scan } = found;
  if (!scan.isComplete || scan.video === null) return;
  const lengths = await lengthsOf(found);
  if (lengths === null) return;
  const { declaredSec, foundSec } = lengths;
  if (foundSec >= declaredSec * ENOUGH - ROUNDING_SEC) return;
  throw new MediaFileError(
    'CORRUPT_INPUT',
    `The file breaks off: ${shown(foundSec)} of ${shown(declaredSec)} seconds are there. Upload it again.`,
  );
}

async function lengthsOf({ path, report, video, scan }: Found) {
  const [container] = report.format.format_name.split(',');
  const trackSec = (scan.video?.lastEndSec ?? 0) - (scan.video?.startSec ?? 0);
  const own = (declaredSec: number) => (declaredSec > 0 ? { declaredSec, foundSec: trackSec } : null);
  if (container === 'mov') {
    return (await isFragmented(path)) ? null : own(seconds(video.duration));
  }
  if (container === 'avi') return own(await aviSeconds(path));
  if (container !== 'matroska' && container !== 'flv' && container !== 'asf') return null;
  const declaredSec = seconds(report.format.duration);
  const startSec = Number.parseFloat(report.format.start_time ?? '') || 0;
  return declaredSec > 0 ? { declaredSec, foundSec: scan.endSec - startSec } : null;
}

const HEADER_BYTES = 16;

/** Whether fragments come before any other media (ISO/IEC 14496-12 8.8): the index in front is then an empty one. */
async function isFragmented(path: string): Promise<boolean> {
  return reading(path, async (file) => {
    const header = Buffer.alloc(HEADER_BYTES);
    for (let at = 0; ; ) {
      const { bytesRead } = await file.read(header, 0, HEADER_BYTES, at);
      const type = header.toString('latin1', 4, 8);
      if (bytesRead < 8 || type === 'mdat') return false;
      if (type === 'moof') return true;
      const short = header.readUInt32BE(0);
      const length = short === 1 && bytesRead === HEADER_BYTES ? Number(header.readBigUInt64BE(8)) : short;
      if (length < 8) return false;
      at += length;
    }
  });
}

const AVI_HEAD_BYTES = 256;

/** What the main header of AVI says; ffprobe shortens it where the file is short. 0 when it says nothing. */
async function aviSeconds(path: string): Promise<number> {
  return reading(path, async (file) => {
    const { buffer } = await file.read(Buffer.alloc(AVI_HEAD_BYTES), 0, AVI_HEAD_BYTES, 0);
    const at = buffer.indexOf('avih', 0, 'latin1') + 8;
    if (at < 8 || at + 20 > AVI_HEAD_BYTES) return 0;
    return (buffer.readUInt32LE(at) * buffer.readUInt32LE(at + 16)) / 1e6;
  });
}

async function reading<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

function seconds(text: string | undefined): number {
  return Number.parseFloat(text ?? '') || 0;
}

function shown(sec: number): string {
  return sec.toFixed(1);
}
