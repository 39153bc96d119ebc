import { Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';

const PAGES = [
  { name: 'bookings', to: '/booking' },
  { name: 'products', to: '/booking/products' },
  { name: 'availability', to: '/booking/availability' },
] as const;

interface Props {
  name: (typeof PAGES)[number]['name'];
  actions?: ReactNode;
  children: ReactNode;
}

/** A page of the area: its heading, and the way to the others. */
export function BookingPage({ name, actions, children }: Props) {
  const { t } = useTranslation('booking');
  return (
    <Stack>
      <PageHeader title={t(`pages.${name}`)} description={t(`about.${name}`)} actions={actions} />
      <nav aria-label={t('nav')}>
        <Group gap={4}>
          {PAGES.map((page) => (
            <ButtonLink
              key={page.name}
              to={page.to}
              activeOptions={{ exact: true }}
              variant={page.name === name ? 'light' : 'subtle'}
            >
              {t(`pages.${page.name}`)}
            </ButtonLink>
          ))}
        </Group>
      </nav>
      {children}
    </Stack>
  );
}
