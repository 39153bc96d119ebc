import { Paper, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { type RateLimits, useRateLimits } from '../../app/rate-limits.ts';
import type { Shape } from '../../app/shape.ts';
import { curlLine } from '../../components/curl.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Meter } from '../../components/meter.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { RequestsPanel } from './requests-panel.tsx';
import { UsagePanel } from './usage-panel.tsx';

export function LimitsPage() {
  const { t } = useTranslation('limits');
  const quota = $api.useQuery('get', '/quota');
  const rates = useRateLimits();
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      <Loaded query={quota}>
        {({ data }) => (
          <>
            <Paper withBorder p="lg">
              <Stack>
                <Title order={2} size="h4">
                  {t('plan', { plan: data.plan })}
                </Title>
                {data.resources.map((resource) => (
                  <ResourceMeter key={resource.key} resource={resource} />
                ))}
                <Text size="sm">
                  {t('media', { upload: data.media.maxUploadHeight, live: data.media.maxLiveHeight })}
                </Text>
              </Stack>
            </Paper>
            <Paper withBorder p="lg">
              <Stack>
                <Title order={2} size="h4">
                  {t('requests.title')}
                </Title>
                <RateMeters rates={rates} />
              </Stack>
            </Paper>
          </>
        )}
      </Loaded>
      <UsagePanel />
      <RequestsPanel />
      <TimeZoneNote />
    </Stack>
  );
}

function ResourceMeter({ resource }: { resource: Shape<'QuotaResource'> }) {
  const { t } = useTranslation('limits');
  const { bytes, number, dateTime } = useFormat();
  const { key, used, limit, unit, resetsAt } = resource;
  return (
    <Meter
      label={t(`resource.${key}`)}
      used={used}
      limit={limit}
      format={unit === 'BYTES' ? bytes : number}
      {...(resetsAt === null ? {} : { note: t('requests.reset', { at: dateTime(resetsAt) }) })}
    />
  );
}

function RateMeters({ rates: { minute, day } }: { rates: RateLimits }) {
  const { t } = useTranslation('limits');
  const { time } = useFormat();
  if (minute === null) {
    return <EmptyState title={t('empty.title')} text={t('empty.text')} curl={curlLine('GET', '/me')} />;
  }
  return (
    <>
      <Meter
        label={t('requests.minute')}
        used={minute.limit - minute.remaining}
        limit={minute.limit}
        note={t('requests.reset', { at: time(minute.resetAt) })}
      />
      {day !== null && (
        <Meter
          label={t('requests.day')}
          used={day.limit - day.remaining}
          limit={day.limit}
          note={t('requests.reset', { at: time(day.resetAt) })}
        />
      )}
    </>
  );
}
