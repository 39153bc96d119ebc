import { Paper, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { type Rates, useRates } from '../../app/rates.ts';
import { curlLine } from '../../components/curl.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Meter } from '../../components/meter.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';

export function LimitsPage() {
  const { t } = useTranslation('limits');
  const me = $api.useQuery('get', '/me');
  const rates = useRates();
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      <Loaded query={me}>
        {({ data }) => (
          <Paper withBorder p="lg">
            <Stack>
              <Title order={2} size="h4">
                {t('requests.title')}
              </Title>
              <Text>{t('plan', { plan: data.plan })}</Text>
              <RateMeters rates={rates} />
              <TimeZoneNote />
            </Stack>
          </Paper>
        )}
      </Loaded>
    </Stack>
  );
}

function RateMeters({ rates: { minute, day } }: { rates: Rates }) {
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
