import { Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { type DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { useFormat } from '../../components/format.ts';
import { IdLine } from '../../components/id-line.tsx';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { CohortBadge } from './badges.tsx';
import { CohortForm } from './cohort-form.tsx';
import { CohortVideos } from './cohort-videos.tsx';

type Cohort = Shape<'Cohort'>;

/** Shows one cohort: its participants, sessions and videos, and its cancellation. */
export function CohortPage() {
  const { t } = useTranslation('booking');
  const { date } = useFormat();
  const { id } = useParams({ from: '/workspace/booking/cohorts/$id' });
  const query = $api.useQuery('get', '/booking/cohorts/{cohortId}', { params: { path: { cohortId: id } } });
  const cohort = query.data?.data;
  const name = cohort && (cohort.title ?? t('cohort.from', { day: date(cohort.startsAt) }));
  return (
    <Stack>
      <BackLink productId={cohort?.productId} />
      <PageHeader
        title={name ?? t('cohort.one')}
        actions={cohort && <CohortBadge status={cohort.status} />}
      />
      <Loaded query={query}>{({ data }) => <Whole cohort={data} />}</Loaded>
    </Stack>
  );
}

function BackLink({ productId }: { productId: string | undefined }) {
  const { t } = useTranslation('booking');
  if (productId === undefined) {
    return (
      <TextLink to="/booking/products" size="sm">
        {t('product.back')}
      </TextLink>
    );
  }
  return (
    <TextLink to="/booking/products/$id" params={{ id: productId }} size="sm">
      {t('cohort.back')}
    </TextLink>
  );
}

function Whole({ cohort }: { cohort: Cohort }) {
  const { t } = useTranslation('booking');
  const isOver = cohort.status === 'COMPLETED' || cohort.status === 'CANCELED';
  const canCancel = !isOver && cohort.status !== 'RUNNING';
  return (
    <>
      <Panel title={t('cohort.about')}>
        <DescriptionList facts={useFacts(cohort)} />
        {isOver && <SessionList sessions={cohort.sessions} />}
      </Panel>
      <CohortVideos cohort={cohort} isOver={isOver} />
      {!isOver && (
        <CohortForm key={cohort.updatedAt} cohort={cohort} productId={cohort.productId} onSaved={() => {}} />
      )}
      {canCancel && <CancelPanel cohort={cohort} />}
      <IdLine id={cohort.id} label={t('cohort.copyId')} />
    </>
  );
}

function useFacts({ enrolledCount, capacity, startsAt, canceledAt }: Cohort): DescriptionItem[] {
  const { t } = useTranslation('booking');
  const { dateTime, number } = useFormat();
  const members =
    capacity === null
      ? number(enrolledCount)
      : t('cohort.membersOf', { count: number(enrolledCount), max: number(capacity) });
  return [
    { label: t('cohort.members'), value: members },
    { label: t('cohort.startsAt'), value: dateTime(startsAt) },
    ...(canceledAt === null ? [] : [{ label: t('cohortStatus.CANCELED'), value: dateTime(canceledAt) }]),
  ];
}

function SessionList({ sessions }: Pick<Cohort, 'sessions'>) {
  const { t } = useTranslation('booking');
  const { dateTime, time } = useFormat();
  if (sessions.length === 0) return null;
  return (
    <ul aria-label={t('session.all')}>
      {sessions.map(({ id, startsAt, endsAt }) => (
        <li key={id}>{t('session.fromTo', { from: dateTime(startsAt), to: time(endsAt) })}</li>
      ))}
    </ul>
  );
}

function CancelPanel({ cohort: { id, enrolledCount } }: { cohort: Cohort }) {
  const { t } = useTranslation('booking');
  const cancel = $api.useMutation('delete', '/booking/cohorts/{cohortId}', {
    onSuccess: () => queries.invalidateQueries({ queryKey: ['get', '/booking/cohorts/{cohortId}'] }),
  });
  return (
    <Panel title={t('cohort.cancel')}>
      <Text>{t('cohort.cancelText')}</Text>
      <div>
        <ConfirmAction
          label={t('cohort.cancel')}
          title={t('cohort.cancelTitle')}
          text={t('cohort.cancelMembers', { count: enrolledCount })}
          isPending={cancel.isPending}
          onConfirm={() => cancel.mutateAsync({ params: { path: { cohortId: id } } })}
        />
      </div>
    </Panel>
  );
}
