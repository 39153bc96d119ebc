import assert from 'node:assert/strict';
import { parseSdp } from '../../../src/media/protocols/sdp/parse.ts';
import { SdpError } from '../../../src/media/protocols/sdp/session-description.ts';
import { writeSdp } from '../../../src/media/protocols/sdp/write.ts';
import { InvalidSignalError } from '../../../src/media/rooms/engine.ts';
import { readRoomAnswer, readRoomOffer } from '../../../src/media/rooms/janus/room-sdp.ts';
import { forJanus } from '../../../src/media/whip/janus-offer.ts';
import { assertPublishable, InvalidOfferError, readOffer } from '../../../src/media/whip/offer.ts';

/** Limits for written descriptions, which have some lines more than the parsed ones. */
const NO_LIMITS = { maxBytes: 1e9, maxLines: 1e9, maxSections: 1e9 };
const VIEWER = { canPublish: false, canSubscribe: true, canPublishData: false, canScreenShare: false };
const SPEAKER = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };
const SOURCES = { 0: 'MICROPHONE', 1: 'CAMERA', 2: 'SCREEN' };

/** Calls a parser. @returns null if it rejects the input. */
function read<T>(reader: () => T, refusals: readonly (new (message: string) => Error)[]): T | null {
  try {
    return reader();
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return null;
    throw error;
  }
}

/**
 * Asserts that a description for Janus has a direction in each section, no address, and no line that Janus
 * would truncate.
 */
function assertForJanus(sdp: string): void {
  const { media } = parseSdp(sdp, NO_LIMITS);
  const sections = sdp.split('\r\nm=').slice(1);
  assert.equal(sections.length, media.length);
  for (const section of sections) {
    assert.equal(section.match(/\r\na=(?:sendrecv|sendonly|recvonly|inactive)(?=\r\n|$)/gi)?.length, 1);
    assert.doesNotMatch(section, /\r\na= *(?:remote-)?candidate/i);
  }
  for (const line of sdp.split('\r\n')) assert.ok(!/[\r\n\0]/.test(line) && Buffer.byteLength(line) <= 512);
}

/**
 * Fuzz targets of session descriptions: writing and parsing are inverse, and invalid input throws only
 * rejections.
 */
export const targets: Record<string, (input: Buffer) => void | Promise<void>> = {
  sdp(input) {
    const parsed = read(() => parseSdp(input.toString()), [SdpError]);
    if (parsed !== null) assert.deepEqual(parseSdp(writeSdp(parsed), NO_LIMITS), parsed);
  },
  roomOffer(input) {
    for (const permissions of [SPEAKER, VIEWER]) {
      const peer = { identity: 'ada', permissions };
      const offer = read(
        () => readRoomOffer(input.toString(), SOURCES, peer, []),
        [SdpError, InvalidSignalError],
      );
      if (offer === null) continue;
      assertForJanus(offer.sdp);
      const isSending = /\r\na=(?:sendrecv|sendonly)\r\n/.test(offer.sdp);
      assert.equal(offer.descriptions.length > 0, isSending);
      assert.ok(permissions.canPublish || !isSending, 'a viewer publishes');
    }
  },
  roomAnswer(input) {
    const answer = read(() => readRoomAnswer(input.toString()), [SdpError, InvalidSignalError]);
    if (answer === null) return;
    assertForJanus(answer);
    assert.doesNotMatch(answer, /\r\na=(?:sendrecv|sendonly)\r\n/);
  },
  whipOffer(input) {
    const offer = read(() => readOffer(input.toString()), [InvalidOfferError]);
    if (offer === null) return;
    read(() => assertPublishable(offer), [InvalidOfferError]);
    const janus = read(() => forJanus(offer), [InvalidOfferError]);
    if (janus !== null) assertForJanus(janus.sdp);
  },
};
