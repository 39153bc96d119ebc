import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFrames } from '../../../src/media/rooms/compose/frames.ts';
import { readMjrHeader } from '../../../src/media/rooms/compose/mjr.ts';
import { parseRtp, primaryOfRed } from '../../../src/media/rooms/compose/rtp.ts';
import { keyFrameSize, parseVp8Payload } from '../../../src/media/rooms/compose/vp8.ts';
import { PublisherMedia } from '../../../src/media/whip/publisher-media.ts';
import type { FuzzTarget } from '../runner.ts';

/** Packets of a WHIP client, each behind its length in two bytes. */
function whip(input: Buffer): void {
  const media = new PublisherMedia({ onPicture() {}, onSound() {}, askForPicture() {} });
  for (let at = 0; at + 2 < input.length; ) {
    const start = at + 2;
    const end = Math.min(input.length, start + input.readUInt16BE(at));
    const packet = Buffer.from(input.subarray(start, end));
    media.packet(packet.length % 2 === 0 ? 'video' : 'audio', packet);
    at = end;
  }
}

function payload(input: Buffer): void {
  // A packet without a payload is none.
  for (const one of [input, parseRtp(input)?.payload ?? input].filter(({ length }) => length > 0)) {
    primaryOfRed(one);
    const part = parseVp8Payload(one);
    if (part !== null) keyFrameSize(part.data);
  }
}

/** A file as Janus records it. */
async function mjr(input: Buffer): Promise<void> {
  const file = await open(join(tmpdir(), `marquee-fuzz-${process.pid}.mjr`), 'w+');
  try {
    await file.write(input);
    const header = await readMjrHeader(file);
    if (header === null) return;
    for await (const frames of readFrames(file, header, null)) if (frames.length === 0) return;
  } finally {
    await file.close();
  }
}

export const targets: Record<string, FuzzTarget> = { whip, rtp: payload, mjr };
