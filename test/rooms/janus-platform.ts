import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { createPartner, type Partner } from '../harness/partner.ts';
import { freePort, type RunningPlatform, startPlatform } from '../harness/platform.ts';

/** Platform with Janus for rooms, WHIP publishers and WHEP viewers, and a browser with a camera. */
export interface JanusPlatform {
  platform: RunningPlatform;
  browser: TestBrowser;
  partner: Partner;
  close(): Promise<void>;
}

/** @param udpPorts `<first>-<last>`, which no other test has. */
export async function startJanusPlatform(
  udpPorts: string,
  more: Record<string, string> = {},
): Promise<JanusPlatform> {
  const port = await freePort();
  const environment = {
    ROOMS_ENGINE: 'janus',
    ROOMS_UDP_PORTS: udpPorts,
    LIVE_MAX_RUNGS: '0',
    PUBLIC_URL: `http://localhost:${port}`,
    ...more,
  };
  const [platform, browser] = await Promise.all([
    startPlatform({ environment, port }),
    launchBrowser(FAKE_DEVICES),
  ]);
  return {
    ...{ platform, browser, partner: createPartner(platform) },
    async close() {
      await browser.close();
      await platform.stop();
    },
  };
}
