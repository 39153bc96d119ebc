/** One video frame or audio packet. */
export interface Sample {
  bytes: number;
  /** Duration in the timescale of its track, as are all times here. */
  duration: number;
  /** Offset of presentation from decoding. */
  composition: number;
  isSync: boolean;
}

/** Samples of one track that follow each other. */
export interface TrackRun {
  trackId: number;
  isVideo: boolean;
  /** When the first of them is decoded. */
  start: number;
  samples: readonly Sample[];
  /** Concatenated content of the samples. */
  data: Buffer;
}

/** `sample_depends_on` and `sample_is_non_sync_sample` (ISO/IEC 14496-12 8.8.3.1). */
const SYNC = 0x200_0000;
const NON_SYNC = 0x101_0000;
const DEFAULT_BASE_IS_MOOF = 0x2_0000;
const DEFAULT_FLAGS = 0x20;
const DATA_OFFSET = 0x1;
const DURATION_AND_SIZE = 0x300;
const FLAGS_AND_COMPOSITION = 0xc00;

const BOX = 8;
const FULL_BOX = 12;
const MFHD = FULL_BOX + 4;
const TFHD = FULL_BOX + 8;
const TFDT = FULL_BOX + 8;
const TRUN = FULL_BOX + 8;

/**
 * Builds a `moof` and its `mdat` (ISO/IEC 14496-12 8.8), in one buffer. Runs without samples are left out.
 */
export function writeFragment(sequence: number, allRuns: readonly TrackRun[]): Buffer {
  const runs = allRuns.filter(({ samples }) => samples.length > 0);
  const moofBytes = runs.reduce((sum, run) => sum + trackBytes(run), BOX + MFHD);
  const dataBytes = runs.reduce((sum, { data }) => sum + data.length, 0);
  const out = new Writer(Buffer.allocUnsafeSlow(moofBytes + BOX + dataBytes));
  out.head('moof', moofBytes);
  out.fullHead('mfhd', MFHD, 0, 0);
  out.u32(sequence);
  let offset = moofBytes + BOX;
  for (const run of runs) {
    writeTrack(out, run, offset);
    offset += run.data.length;
  }
  out.head('mdat', BOX + dataBytes);
  for (const { data } of runs) out.bytes(data);
  return out.target;
}

function trackBytes({ samples, isVideo }: TrackRun): number {
  return BOX + TFHD + TFDT + TRUN + samples.length * (isVideo ? 16 : 8);
}

function writeTrack(out: Writer, run: TrackRun, offset: number): void {
  const { samples, isVideo } = run;
  out.head('traf', trackBytes(run));
  out.fullHead('tfhd', TFHD, 0, DEFAULT_BASE_IS_MOOF + DEFAULT_FLAGS);
  out.u32(run.trackId);
  out.u32(isVideo ? NON_SYNC : SYNC);
  out.fullHead('tfdt', TFDT, 1, 0);
  out.u64(run.start);
  const flags = DATA_OFFSET + DURATION_AND_SIZE + (isVideo ? FLAGS_AND_COMPOSITION : 0);
  out.fullHead('trun', TRUN + samples.length * (isVideo ? 16 : 8), 1, flags);
  out.u32(samples.length);
  out.u32(offset);
  for (const sample of samples) {
    out.u32(sample.duration);
    out.u32(sample.bytes);
    if (!isVideo) continue;
    out.u32(sample.isSync ? SYNC : NON_SYNC);
    out.i32(sample.composition);
  }
}

class Writer {
  readonly target: Buffer;
  #at = 0;

  constructor(target: Buffer) {
    this.target = target;
  }

  head(type: string, bytes: number): void {
    this.u32(bytes);
    this.#at += this.target.write(type, this.#at, 'latin1');
  }

  fullHead(type: string, bytes: number, version: number, flags: number): void {
    this.head(type, bytes);
    this.u32(version * 2 ** 24 + flags);
  }

  u32(value: number): void {
    this.#at = this.target.writeUInt32BE(value, this.#at);
  }

  i32(value: number): void {
    this.#at = this.target.writeInt32BE(value, this.#at);
  }

  u64(value: number): void {
    this.#at = this.target.writeBigUInt64BE(BigInt(value), this.#at);
  }

  bytes(data: Buffer): void {
    this.#at += data.copy(this.target, this.#at);
  }
}
