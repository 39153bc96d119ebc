import { Group, List, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { useFormat } from '../../components/format.ts';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';

const SHOWN = 12;

/** Lists the next bookable times of a product as customers see them. */
export function TimesPanel({ product: { id, type } }: { product: Shape<'BookingProduct'> }) {
  const { t } = useTranslation('booking');
  const query = $api.useQuery('get', '/booking/products/{id}/slots', { params: { path: { id } } });
  return (
    <Panel
      title={t('times.title')}
      actions={<TextLink to="/booking/availability">{t('times.change')}</TextLink>}
    >
      <Loaded query={query}>
        {({ data: { slots } }) =>
          slots.length === 0 ? (
            <Text>{t('times.none')}</Text>
          ) : (
            <Stack gap="xs">
              <Text size="sm" c="dimmed">
                {t('times.count', { count: slots.length })}
              </Text>
              <Times slots={slots.slice(0, SHOWN)} isClass={type === 'LIVE_CLASS'} />
              <TimeZoneNote />
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Times({ slots, isClass }: { slots: { startsAt: string; seatsLeft: number }[]; isClass: boolean }) {
  const { t } = useTranslation('booking');
  const { dateTime } = useFormat();
  return (
    <List aria-label={t('times.title')}>
      {slots.map(({ startsAt, seatsLeft }) => (
        <List.Item key={startsAt}>
          <Group gap="xs">
            <time dateTime={startsAt}>{dateTime(startsAt)}</time>
            {isClass && (
              <Text size="sm" c="dimmed">
                {t('times.seats', { count: seatsLeft })}
              </Text>
            )}
          </Group>
        </List.Item>
      ))}
    </List>
  );
}
