import type { TestApp } from './app.ts';
import { type SdpAnswer, sdpCaller } from './sdp-request.ts';
import { waitFor } from './wait-for.ts';

/** Publishes by WHIP to a media node implemented by the test. */
export async function publishTo(
  app: TestApp,
  { nodeId, streamKey, offer = 'v=0\r\n' }: { nodeId: string; streamKey: string; offer?: string },
): Promise<SdpAnswer & { session: string }> {
  const { port } = app.container.whip;
  port.isThere();
  const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${streamKey}` };
  const publishing = sdpCaller(() => app)('POST', '/whip', headers, offer);
  const [offered] = await waitFor(async () => {
    const taken = await port.take(nodeId);
    return taken.length > 0 && taken;
  });
  await port.answered(offered?.sessionId ?? '', 'v=0\r\n');
  const answer = await publishing;
  return { ...answer, session: answer.headers.get('location') ?? '' };
}
