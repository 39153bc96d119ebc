export const PLAN_NAMES = ['FREE', 'STAR', 'PRO', 'VIP'] as const;
export type Plan = (typeof PLAN_NAMES)[number];

/** Limits of a plan (docs/concepts/plans.md). Heights are lines of the shorter side. */
export interface PlanLimits {
  maxLiveHeight: number;
  /** Maximum bitrate from an encoder, video and audio. */
  maxLiveKbps: number;
  /** The top rung of an uploaded video; a higher one is scaled down. */
  maxUploadHeight: number;
  /** Renditions in HEVC and AV1 as well, where the operator wants them (`VIDEO_CODECS`). */
  furtherCodecs: boolean;
  concurrentStreams: number;
  /** Maximum concurrently connected encoders, on air or not: each needs a packager. */
  encoders: number;
  /** Storage of each workspace. The following limits are per workspace, too. */
  storageBytes: number;
  /** Sessions that wait for bytes. */
  openUploads: number;
  /** Destinations of all restreams together. */
  restreamTargets: number;
  /** Maximum concurrent participants of a room. */
  roomParticipants: number;
  /** Maximum duration of a room session. */
  roomHours: number;
  /** Seats of the account instead of a workspace: its owner, its members and invited people. */
  teamSeats: number;
  webhooks: number;
  apiKeys: number;
  integrationDomains: number;
  /** Priority of jobs: number of additional turns compared to FREE. */
  priority: number;
  /** null keeps recordings for ever. */
  recordingRetentionDays: number | null;
}

const GB = 2 ** 30;

export const PLANS: Readonly<Record<Plan, PlanLimits>> = {
  FREE: {
    maxLiveHeight: 720,
    maxLiveKbps: 15_000,
    maxUploadHeight: 720,
    furtherCodecs: false,
    concurrentStreams: 1,
    encoders: 2,
    storageBytes: 10 * GB,
    openUploads: 100,
    restreamTargets: 2,
    roomParticipants: 10,
    roomHours: 1,
    teamSeats: 1,
    webhooks: 3,
    apiKeys: 5,
    integrationDomains: 1,
    priority: 0,
    recordingRetentionDays: 7,
  },
  STAR: {
    maxLiveHeight: 1080,
    maxLiveKbps: 30_000,
    maxUploadHeight: 1080,
    furtherCodecs: true,
    concurrentStreams: 2,
    encoders: 4,
    storageBytes: 200 * GB,
    openUploads: 500,
    restreamTargets: 3,
    roomParticipants: 25,
    roomHours: 4,
    teamSeats: 3,
    webhooks: 10,
    apiKeys: 20,
    integrationDomains: 3,
    priority: 10,
    recordingRetentionDays: 30,
  },
  PRO: {
    maxLiveHeight: 1440,
    maxLiveKbps: 60_000,
    maxUploadHeight: 2160,
    furtherCodecs: true,
    concurrentStreams: 5,
    encoders: 10,
    storageBytes: 2 * 1024 * GB,
    openUploads: 2_000,
    restreamTargets: 8,
    roomParticipants: 100,
    roomHours: 12,
    teamSeats: 10,
    webhooks: 25,
    apiKeys: 50,
    integrationDomains: 10,
    priority: 20,
    recordingRetentionDays: 365,
  },
  VIP: {
    maxLiveHeight: 2160,
    maxLiveKbps: 120_000,
    maxUploadHeight: 4320,
    furtherCodecs: true,
    concurrentStreams: 20,
    encoders: 40,
    storageBytes: 20 * 1024 * GB,
    openUploads: 10_000,
    restreamTargets: 20,
    roomParticipants: 500,
    roomHours: 24,
    teamSeats: 50,
    webhooks: 100,
    apiKeys: 200,
    integrationDomains: 50,
    priority: 30,
    recordingRetentionDays: null,
  },
};

/** Maximum frame rate of live video on every plan (docs/concepts/plans.md). */
export const MAX_LIVE_FPS = 60;
/** Uploaded video, on every plan (docs/concepts/plans.md). */
export const MAX_UPLOAD_FPS = 120;
/** Maximum bytes of a video file (docs/concepts/plans.md). */
export const MAX_FILE_BYTES = 100 * GB;
/** One video lasts at most 12 hours (docs/concepts/plans.md). */
export const MAX_DURATION_SEC = 43_200;
/** Test workspaces run the real pipeline up to this height (docs/decisions/tenancy.md). */
export const TEST_MODE_HEIGHT = 720;

/** Resources that plans limit (docs/concepts/quota.md). */
export const RESOURCE_KEYS = [
  'STORAGE_BYTES',
  'VIDEO_MINUTES',
  'OPEN_UPLOADS',
  'CONCURRENT_STREAMS',
  'LIVE_MINUTES',
  'ENCODERS',
  'RESTREAM_TARGETS',
  'ROOM_PARTICIPANTS',
  'ROOM_MINUTES',
  'EGRESS_BYTES',
  'TEAM_SEATS',
  'WEBHOOKS',
  'API_KEYS',
  'INTEGRATION_DOMAINS',
] as const;
export type ResourceKey = (typeof RESOURCE_KEYS)[number];

/** More of a resource was wanted than the plan has. */
export interface QuotaExceededDetails {
  workspaceId: string;
  resource: ResourceKey;
}
