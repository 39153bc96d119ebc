import { badRequest } from '../kernel/errors.ts';
import { GuardError, type Outbound, OutboundError } from './outbound/index.ts';

const FETCH_TIMEOUT_MS = 10_000;

/**
 * Downloads an image from a user-supplied URL.
 *
 * @param of `field`: the name of the request field with the URL.
 * @throws {AppError} BAD_REQUEST naming the field.
 */
export async function fetchImage(
  fetcher: Pick<Outbound, 'download'>,
  url: string,
  { field, maxBytes }: { field: string; maxBytes: number },
): Promise<Uint8Array> {
  try {
    const { status, bytes, complete } = await fetcher.download({
      url,
      headers: { accept: 'image/webp, image/png, image/jpeg', 'accept-encoding': 'identity' },
      timeoutMs: FETCH_TIMEOUT_MS,
      maxBytes,
      maxRedirects: 3,
      sameHost: false,
    });
    if (status !== 200) throw badRequest(field, `The URL returned status ${status}.`);
    if (!complete) throw badRequest(field, `The URL did not return an image of at most ${maxBytes} bytes.`);
    return bytes;
  } catch (error) {
    if (error instanceof GuardError) throw badRequest(field, `This URL was rejected: ${error.reason}.`);
    if (error instanceof OutboundError)
      throw badRequest(field, `The URL could not be fetched (${error.message}).`);
    throw error;
  }
}
