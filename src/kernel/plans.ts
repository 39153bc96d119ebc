export type Plan = 'FREE' | 'STAR' | 'PRO' | 'VIP';

/** What a plan includes (contract 8.3, `api.md` C6). Heights are lines of the shorter side. */
export interface PlanLimits {
  maxLiveHeight: number;
  concurrentStreams: number;
  /** Of each workspace, as are the two below. */
  webhooks: number;
  apiKeys: number;
  integrationDomains: number;
}

export const PLANS: Readonly<Record<Plan, PlanLimits>> = {
  FREE: { maxLiveHeight: 720, concurrentStreams: 1, webhooks: 3, apiKeys: 5, integrationDomains: 1 },
  STAR: { maxLiveHeight: 1080, concurrentStreams: 2, webhooks: 10, apiKeys: 20, integrationDomains: 3 },
  PRO: { maxLiveHeight: 1440, concurrentStreams: 5, webhooks: 25, apiKeys: 50, integrationDomains: 10 },
  VIP: { maxLiveHeight: 2160, concurrentStreams: 20, webhooks: 100, apiKeys: 200, integrationDomains: 50 },
};

/** Live video has at most so many frames per second on every plan (contract 8.3). */
export const MAX_LIVE_FPS = 60;
/** Test workspaces run the real pipeline up to this height (`api.md` C12). */
export const TEST_MODE_HEIGHT = 720;
