import { Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { useFormat } from '../../components/format.ts';
import { centsOf, dollarsOf, MoneyInput } from '../../components/money-input.tsx';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { TierChecks } from '../../components/tier-checks.tsx';
import { VisibilityName, VisibilitySelect } from '../../components/visibility.tsx';
import { refreshVideo } from './refresh.ts';

type Props = { video: Shape<'Video'> };

/** Shows the current visibility and changes it: publish, schedule or unpublish. */
export function PublishPanel({ video }: Props) {
  const { t } = useTranslation('videos');
  const { dateTime } = useFormat();
  const { visibility, publishAt, publishedAt, status } = video;
  const isPrivate = visibility === 'PRIVATE';
  return (
    <Panel title={t('publish.title')}>
      <Text role="status">
        <b>
          <VisibilityName visibility={visibility} />.
        </b>{' '}
        {isPrivate ? t('publish.isPrivate') : t('publish.isOpen')}{' '}
        {!isPrivate && status !== 'READY' && t('publish.notReady')}
      </Text>
      {publishedAt !== null && (
        <Text size="sm" c="dimmed">
          {t('publish.since', { at: dateTime(publishedAt) })}
        </Text>
      )}
      {publishAt !== null && <Text fw={500}>{t('publish.planned', { at: dateTime(publishAt) })}</Text>}
      {isPrivate ? <Publish video={video} /> : <Unpublish video={video} />}
      <ChangeVisibility key={visibility} video={video} />
    </Panel>
  );
}

function Publish({ video: { id, publishAt } }: Props) {
  const { t } = useTranslation('videos');
  const publish = $api.useMutation('post', '/videos/{id}/publish', { onSuccess: refreshVideo });
  const withdraw = $api.useMutation('post', '/videos/{id}/unpublish', { onSuccess: refreshVideo });
  const params = { params: { path: { id } } };
  return (
    <Stack>
      <Group>
        <EditButton loading={publish.isPending} onClick={() => publish.mutate({ ...params, body: {} })}>
          {t('publish.now')}
        </EditButton>
        {publishAt !== null && (
          <EditButton variant="default" loading={withdraw.isPending} onClick={() => withdraw.mutate(params)}>
            {t('publish.withdraw')}
          </EditButton>
        )}
      </Group>
      <Plan id={id} />
    </Stack>
  );
}

function Plan({ id }: { id: string }) {
  const { t } = useTranslation('videos');
  const form = useForm({ mode: 'uncontrolled', initialValues: { at: '' } });
  useUnsaved(form);
  const plan = $api.useMutation('post', '/videos/{id}/publish', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: () => {
      form.resetDirty();
      return refreshVideo();
    },
  });
  const submit = ({ at }: { at: string }) =>
    plan.mutate({ params: { path: { id } }, body: { at: new Date(at).toISOString() } });
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Group align="flex-end">
        <TextInput
          {...form.getInputProps('at')}
          key={form.key('at')}
          type="datetime-local"
          label={t('publish.at')}
          required
        />
        <EditButton type="submit" variant="default" loading={plan.isPending}>
          {t('publish.plan')}
        </EditButton>
      </Group>
      <TimeZoneNote />
    </form>
  );
}

function Unpublish({ video: { id } }: Props) {
  const { t } = useTranslation('videos');
  const unpublish = $api.useMutation('post', '/videos/{id}/unpublish', { onSuccess: refreshVideo });
  return (
    <div>
      <ConfirmAction
        label={t('publish.hide')}
        title={t('publish.hideTitle')}
        text={t('publish.hideText')}
        isPending={unpublish.isPending}
        onConfirm={() => unpublish.mutateAsync({ params: { path: { id } } })}
      />
    </div>
  );
}

/** Selects visibilities other than public and private: for members or for buyers. */
function ChangeVisibility({ video }: Props) {
  const { t } = useTranslation('videos');
  const { id, visibility, tierIds, priceCents } = video;
  const form = useForm({ initialValues: { visibility, tierIds, price: dollarsOf(priceCents) } });
  useUnsaved(form);
  const change = $api.useMutation('patch', '/videos/{id}', {
    meta: { errors: 'form' },
    onError: formErrors(form, { priceCents: 'price' }),
    onSuccess: () => {
      form.resetDirty();
      return refreshVideo();
    },
  });
  const chosen = form.getValues().visibility;
  const submit = (values: ReturnType<typeof form.getValues>) =>
    change.mutate({
      params: { path: { id } },
      body: {
        visibility: values.visibility,
        ...(values.visibility === 'TIER' ? { tierIds: values.tierIds } : {}),
        ...(values.visibility === 'PURCHASE' ? { priceCents: centsOf(values.price) } : {}),
      },
    });
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Stack>
        <VisibilitySelect
          {...form.getInputProps('visibility')}
          current={visibility}
          more={['TIER', 'PURCHASE']}
        />
        {chosen === 'TIER' && <TierChecks {...form.getInputProps('tierIds')} />}
        {chosen === 'PURCHASE' && (
          <MoneyInput
            {...form.getInputProps('price')}
            label={t('publish.price')}
            description={t('publish.priceMeans')}
            min={0.5}
            required
          />
        )}
        <Group>
          <EditButton type="submit" variant="default" disabled={!form.isDirty()} loading={change.isPending}>
            {t('publish.change')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}
