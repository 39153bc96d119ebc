import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { AudienceIcon } from '../../components/icons.tsx';
import { type AudienceSearch, audienceSearch } from './search.ts';

const audienceRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/audience',
  validateSearch: (search): AudienceSearch => audienceSearch(search),
  component: lazyPage(() => import('./audience-page.tsx'), 'AudiencePage'),
});

export const audience = defineArea({
  id: 'audience',
  label: { en: 'Audience', de: 'Publikum' },
  group: 'content',
  to: '/audience',
  Icon: AudienceIcon,
  routes: [audienceRoute],
});
