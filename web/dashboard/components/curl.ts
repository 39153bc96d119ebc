import { BASE_URL } from '../app/request.ts';

/** Returns a curl command line for the API in which the key is `$MARQUEE_API_KEY`. */
export function curlLine(
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): string {
  const parts = [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} ${window.location.origin}${BASE_URL}${path}`,
    '-H "Authorization: Bearer $MARQUEE_API_KEY"',
  ];
  if (body !== undefined) {
    const json = JSON.stringify(body).replaceAll("'", "'\\''");
    parts.push("-H 'Content-Type: application/json'", `-d '${json}'`);
  }
  return parts.join(' \\\n  ');
}
