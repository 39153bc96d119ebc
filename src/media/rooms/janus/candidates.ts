/**
 * A session description (RFC 8866) without the addresses of whoever has sent it: Janus would send packets to each of them,
 * whosever they are. A client finds those of Janus, and is found by that (RFC 8445, section 7.3.1.3;
 * docs/decisions/whip.md#candidates).
 */
export function withoutCandidates(sdp: string): string {
  const lines = sdp.split(/[\r\n]+/).map((line) => line.trim());
  const kept = lines.filter((line) => line !== '' && !/^a=\s*(?:remote-)?candidate/i.test(line));
  return [...kept, ''].join('\r\n');
}
