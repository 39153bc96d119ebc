/** Error response of the API (docs/errors.md), or a missing response: `code` is then `API_UNREACHABLE`. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Dotted path of the field in the request body: `items.0.videoId`. */
  readonly field: string | null;
  /** Request ID that support asks for; null when there was no response. */
  readonly requestId: string | null;
  /** Everything that the error's body has. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(options: {
    status: number;
    code: string;
    message: string;
    field?: string | null;
    requestId?: string | null;
    details?: Record<string, unknown>;
    cause?: unknown;
  }) {
    super(options.message, { cause: options.cause });
    this.name = 'ApiError';
    this.status = options.status;
    this.code = options.code;
    this.field = options.field ?? null;
    this.requestId = options.requestId ?? null;
    this.details = options.details ?? {};
  }

  /** Reports whether there was no response: the request may be retried, and its input is not at fault. */
  get isAway(): boolean {
    return this.code === API_UNREACHABLE;
  }
}

export const API_UNREACHABLE = 'API_UNREACHABLE';

/** Reads the error of a response. Errors of sign-in limits have a plain string instead of an object. */
export async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('X-SVC-Request-Id');
  const { status } = response;
  const text = await response.text().catch(() => '');
  const details = detailsOf(text);
  if (details === null) {
    const code = status === 429 ? 'RATE_LIMITED' : `HTTP_${status}`;
    return new ApiError({ status, code, message: plainMessage(text) || response.statusText, requestId });
  }
  const { code, message, field } = details;
  return new ApiError({
    status,
    code: typeof code === 'string' ? code : `HTTP_${status}`,
    message: typeof message === 'string' ? message : '',
    field: typeof field === 'string' ? field : null,
    requestId,
    details,
  });
}

/** Reports whether the response is from the API, and not from a proxy. */
export function isEnvelope(response: Response): boolean {
  return response.headers.has('X-SVC-Request-Id');
}

function parsed(text: string): object {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

function errorOf(text: string): unknown {
  return Reflect.get(parsed(text), 'error');
}

/** A second-factor challenge is next to the error object; all other details are inside it. */
function detailsOf(text: string): Record<string, unknown> | null {
  const error = errorOf(text);
  return typeof error === 'object' && error !== null ? { ...parsed(text), ...error } : null;
}

function plainMessage(text: string): string {
  const error = errorOf(text);
  return typeof error === 'string' ? error : '';
}
