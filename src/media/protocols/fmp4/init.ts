import { box, fullBox, u16, u32 } from './box.ts';
import type { TrackHead } from './track.ts';

/** The matrix that changes nothing (ISO/IEC 14496-12 8.2.2.2). */
const UNITY = u32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);

/** Builds the initialization segment: `ftyp` and `moov` (ISO/IEC 14496-12 8.2), without samples. */
export function writeInit(tracks: readonly TrackHead[]): Buffer {
  const moov = box('moov', movieHeader(), ...tracks.map(trackBox), box('mvex', ...tracks.map(trackDefaults)));
  return Buffer.concat([box('ftyp', Buffer.from('iso5\0\0\x02\0iso5iso6mp41', 'latin1')), moov]);
}

function movieHeader(): Buffer {
  return fullBox(
    'mvhd',
    0,
    0,
    u32(0, 0, 1000, 0, 0x1_0000),
    u16(0x100, 0),
    u32(0, 0),
    UNITY,
    Buffer.alloc(24),
    u32(3),
  );
}

function trackBox(track: TrackHead): Buffer {
  const { trackId, isVideo, timescale, width, height } = track;
  const header = fullBox(
    'tkhd',
    0,
    // enabled, in the movie
    3,
    u32(0, 0, trackId, 0, 0, 0, 0),
    u16(0, 0, isVideo ? 0 : 0x100, 0),
    UNITY,
    u32(width * 0x1_0000, height * 0x1_0000),
  );
  const handler = Buffer.from(isVideo ? 'vide' : 'soun', 'latin1');
  const media = box(
    'mdia',
    // 0x55c4 is "und", an unknown language
    fullBox('mdhd', 0, 0, u32(0, 0, timescale, 0), u16(0x55c4, 0)),
    fullBox('hdlr', 0, 0, u32(0), handler, Buffer.alloc(13)),
    box('minf', mediaHeader(isVideo), dataInformation(), sampleTable(track)),
  );
  return box('trak', header, media);
}

function mediaHeader(isVideo: boolean): Buffer {
  return isVideo ? fullBox('vmhd', 0, 1, u16(0, 0, 0, 0)) : fullBox('smhd', 0, 0, u16(0, 0));
}

function dataInformation(): Buffer {
  return box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, 1)));
}

function sampleTable({ entry }: TrackHead): Buffer {
  const empty = ['stts', 'stsc', 'stco'].map((type) => fullBox(type, 0, 0, u32(0)));
  return box('stbl', fullBox('stsd', 0, 0, u32(1), entry), ...empty, fullBox('stsz', 0, 0, u32(0, 0)));
}

function trackDefaults({ trackId }: TrackHead): Buffer {
  return fullBox('trex', 0, 0, u32(trackId, 1, 0, 0, 0));
}
