import { DetailedError, Upload } from 'tus-js-client';

/** Callbacks for the progress of one file's transfer. */
export interface TransferReport {
  progress(sentBytes: number): void;
  done(): void;
  failed(failure: TransferFailure): void;
}

export interface TransferFailure {
  /** Status of the response; null when there was none. */
  status: number | null;
  /** Error code in the response body. */
  code: string | null;
  message: string;
}

/**
 * Sends the bytes that the server does not have yet, from its current offset. Each call is one attempt; the
 * caller decides about retries.
 *
 * @returns a function that cancels the attempt.
 */
export function startTransfer(
  file: File,
  { uploadUrl, chunkSize }: { uploadUrl: string; chunkSize: number },
  report: TransferReport,
): () => void {
  const upload = new Upload(file, {
    uploadUrl,
    chunkSize,
    retryDelays: null,
    storeFingerprintForResuming: false,
    onProgress: (sent) => report.progress(sent),
    onSuccess: () => report.done(),
    onError: (error) => report.failed(failureOf(error)),
  });
  upload.start();
  return () => void upload.abort();
}

function failureOf(error: Error): TransferFailure {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  const status = response?.getStatus() ?? 0;
  if (response === null || response === undefined || status === 0) {
    return { status: null, code: null, message: '' };
  }
  const { code, message } = problemOf(response.getBody());
  return { status, code, message };
}

function problemOf(body: string): { code: string | null; message: string } {
  try {
    const { error } = Object(JSON.parse(body));
    const { code, message } = Object(error);
    return {
      code: typeof code === 'string' ? code : null,
      message: typeof message === 'string' ? message : '',
    };
  } catch {
    return { code: null, message: '' };
  }
}
