import { lazyRouteComponent } from '@tanstack/react-router';
import { API_UNREACHABLE, ApiError } from './api-error.ts';
import { isServerReachable } from './connection.ts';

/**
 * Defines a page that is loaded when it is opened: `lazyPage(() => import('./limits-page.tsx'),
 * 'LimitsPage')`. When its file is gone after an upgrade, the router reloads the whole site; while the server
 * is unavailable, the reload would leave an empty page, so the page shows an error instead.
 */
export function lazyPage<Module extends object, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (cause) {
      if (await isServerReachable()) throw cause;
      throw new ApiError({ status: 0, code: API_UNREACHABLE, message: 'Server not responding.', cause });
    }
  }, name);
}
