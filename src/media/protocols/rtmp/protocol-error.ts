/** The peer broke the protocol or a limit. Its text is logged, so it never quotes what the peer sent. */
export class ProtocolError extends Error {
  override name = 'ProtocolError';
}
