import { parseSdp } from '../protocols/sdp/parse.ts';
import { isRejected, SdpError } from '../protocols/sdp/session-description.ts';
import { JanusError } from '../rooms/janus/client.ts';
import { writeForJanus } from '../rooms/janus/janus-sdp.ts';
import {
  hasLongMids,
  InvalidOfferError,
  isBundled,
  isMidExtension,
  type Offer,
  type OfferedMedia,
} from './offer.ts';

/** Offer rewritten for Janus, and the conversion of its answer for the client. */
export interface JanusOffer {
  sdp: string;
  /** Janus's mid of each section. */
  mids: readonly string[];
  /** @throws {InvalidOfferError} where Janus takes less than was offered (RFC 9725, section 4.4.3). */
  answer(sdp: string): string;
}

/** Error codes of the Janus core and plugins for an invalid description. */
const INVALID_SDP: ReadonlySet<number> = new Set([437, 446, 447, 465]);

/**
 * Rewrites an offer with only the attributes Janus needs, and no address
 * (docs/decisions/whip.md#rewritten-offers).
 *
 * @throws {InvalidOfferError} for one that is too long.
 */
export function forJanus({ attributes, media }: Offer): JanusOffer {
  const isRenamed = hasLongMids(media);
  const mids = media.map(({ mid }, index) => (isRenamed ? String(index) : mid));
  const sections = media.map(({ section, codecs }, index) => ({
    media: isRenamed
      ? { ...section, attributes: section.attributes.filter((one) => !isMidExtension(one)) }
      : section,
    mid: mids[index] ?? '',
    codecs,
  }));
  const session = attributes.filter((one) => !isRenamed || !isMidExtension(one));
  return {
    sdp: write(session, sections),
    mids,
    answer: (sdp) => answerOf(sdp, media, isBundled(attributes, media)),
  };
}

function write(...description: Parameters<typeof writeForJanus>): string {
  try {
    return writeForJanus(...description);
  } catch (error) {
    if (error instanceof SdpError) throw new InvalidOfferError(error.message);
    throw error;
  }
}

/** Builds the answer with the client's mids, and no group if the offer has none (RFC 9143, section 7.3). */
function answerOf(sdp: string, media: readonly OfferedMedia[], isGrouped: boolean): string {
  const refused = parseSdp(sdp).media.find(isRejected);
  if (refused !== undefined)
    throw new InvalidOfferError(`The ${refused.kind} section of the offer cannot be accepted.`);
  let index = 0;
  const lines = sdp.split(/\r\n|\n/).flatMap((line) => {
    if (line.startsWith('a=group:BUNDLE'))
      return isGrouped ? [`a=group:BUNDLE ${media.map(({ mid }) => mid).join(' ')}`] : [];
    if (!line.startsWith('a=mid:')) return [line];
    const mid = media[index]?.mid ?? '';
    index += 1;
    return [`a=mid:${mid}`];
  });
  return lines.join('\r\n');
}

/** @throws {InvalidOfferError} instead of a Janus error about the description; otherwise the error itself. */
export function toOfferError(error: unknown): never {
  if (error instanceof JanusError && INVALID_SDP.has(error.code))
    throw new InvalidOfferError(`The offer cannot be accepted: ${error.message}`);
  throw error;
}
