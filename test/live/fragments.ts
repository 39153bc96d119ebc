/**
 * Fragmented MP4 as an encoder's packager writes it, with meaningless media: one track, or video and audio.
 */

function box(type: string, ...content: (Buffer | number[])[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

const TIMESCALE = 6000;
const NON_SYNC = 0x101_0000;
const SYNC = 0x200_0000;
const FRAMES = 6;

function track(id: number, handler: string, ...more: Buffer[]): Buffer {
  const media = box(
    'mdia',
    box('mdhd', numbers(0, 0, 0, TIMESCALE, 0)),
    box('hdlr', numbers(0, 0), Buffer.from(handler), numbers(0, 0, 0)),
    ...more,
  );
  return box('trak', box('tkhd', numbers(0, 0, 0, id, 0)), media);
}

/** Returns `ftyp` and `moov`, with the profile of the video track. */
export function initBytes(profile = [0x64, 0x00, 0x1f]): Buffer {
  const avcC = box('avcC', [1, ...profile, 0xff]);
  return Buffer.concat([
    box('ftyp', Buffer.from('iso5'), numbers(512)),
    box(
      'moov',
      track(1, 'vide', avcC),
      track(2, 'soun'),
      box('mvex', box('trex', numbers(0, 1, 1, 0, 0, 0)), box('trex', numbers(0, 2, 1, 0, 0, 0))),
    ),
  ]);
}

export interface MadeFragment {
  startSec: number;
  durationSec: number;
  isKey: boolean;
  mediaBytes?: number;
}

/** `moof` and `mdat`. */
export function fragmentBytes({ startSec, durationSec, isKey, mediaBytes = 1000 }: MadeFragment): Buffer {
  const part = (id: number, flags: number) => {
    const sample = Math.round((durationSec * TIMESCALE) / FRAMES);
    return box(
      'traf',
      // default-base-is-moof, and the defaults of duration and flags
      box('tfhd', numbers(0x02_0028, id, sample, NON_SYNC)),
      box('tfdt', numbers(0x100_0000, 0, Math.round(startSec * TIMESCALE))),
      box('trun', numbers(0x4, FRAMES, flags)),
    );
  };
  // Audio comes first, and is always a keyframe.
  const moof = box('moof', box('mfhd', numbers(0, 1)), part(2, SYNC), part(1, isKey ? SYNC : NON_SYNC));
  return Buffer.concat([moof, box('mdat', Buffer.alloc(mediaBytes, 7))]);
}
