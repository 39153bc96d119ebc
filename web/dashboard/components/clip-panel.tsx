import { Group, NumberInput, Text, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../app/api.ts';
import { formErrors } from '../app/form.ts';
import { serverNow } from '../app/server-clock.ts';
import type { Shape } from '../app/shape.ts';
import { EditButton } from './change-button.tsx';
import { TextLink } from './links.tsx';
import { Panel } from './panel.tsx';

interface ClipRange {
  startSec: number;
  endSec: number;
  title: string;
}

/** Mantine's inputs of numbers are empty texts while they are empty. */
interface Values extends Omit<ClipRange, 'startSec' | 'endSec'> {
  startSec: number | '';
  endSec: number | '';
}

type Form = UseFormReturnType<Values>;

const LAST_SEC = 30;

/** Creates a clip of a playable video. */
export function ClipOfVideo({ video: { id, title, durationSec } }: { video: Shape<'Video'> }) {
  const form = useClipForm(title, { startSec: 0, endSec: Math.min(LAST_SEC, durationSec ?? LAST_SEC) });
  const cut = $api.useMutation('post', '/videos/{id}/clips', {
    meta: { errors: 'form' },
    onError: formErrors(form),
  });
  return (
    <ClipPanel
      form={form}
      madeId={cut.data?.data.id}
      isPending={cut.isPending}
      onCut={(body) => cut.mutate({ params: { path: { id } }, body })}
    />
  );
}

/** Creates a clip of a live broadcast. */
export function ClipOfStream({ stream: { id, title, startedAt } }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation();
  const form = useClipForm(title, { startSec: '', endSec: '' });
  const cut = $api.useMutation('post', '/streams/{id}/clips', {
    meta: { errors: 'form' },
    onError: formErrors(form),
  });
  const takeLast = () => {
    const endSec = Math.floor((serverNow() - Date.parse(startedAt ?? '')) / 1000) - 1;
    form.setValues({ startSec: Math.max(0, endSec - LAST_SEC), endSec: Math.max(1, endSec) });
  };
  return (
    <ClipPanel
      form={form}
      madeId={cut.data?.data.id}
      isPending={cut.isPending}
      onCut={(body) => cut.mutate({ params: { path: { id } }, body })}
    >
      <EditButton variant="default" onClick={takeLast}>
        {t('clip.last', { seconds: LAST_SEC })}
      </EditButton>
    </ClipPanel>
  );
}

function useClipForm(title: string, span: Pick<Values, 'startSec' | 'endSec'>): Form {
  return useForm<Values>({ initialValues: { title, ...span } });
}

interface Props {
  form: Form;
  /** ID of the last created clip. */
  madeId: string | undefined;
  isPending: boolean;
  onCut(piece: ClipRange): void;
  children?: ReactNode;
}

function ClipPanel({ form, madeId, isPending, onCut, children }: Props) {
  const { t } = useTranslation();
  const submit = ({ startSec, endSec, title }: Values) =>
    onCut({ startSec: Number(startSec), endSec: Number(endSec), title });
  return (
    <Panel title={t('clip.title')}>
      <Text size="sm" c="dimmed">
        {t('clip.means')}
      </Text>
      <form onSubmit={form.onSubmit(submit)}>
        <Group align="flex-end">
          <Second form={form} name="startSec" />
          <Second form={form} name="endSec" />
          <TextInput
            {...form.getInputProps('title')}
            key={form.key('title')}
            label={t('clip.name')}
            maxLength={200}
            required
          />
          {children}
          <EditButton type="submit" loading={isPending}>
            {t('clip.cut')}
          </EditButton>
        </Group>
      </form>
      {madeId !== undefined && (
        <Text role="status">
          {t('clip.made')}{' '}
          <TextLink to="/videos/$id" params={{ id: madeId }}>
            {t('clip.open')}
          </TextLink>
        </Text>
      )}
    </Panel>
  );
}

function Second({ form, name }: { form: Form; name: 'startSec' | 'endSec' }) {
  const { t } = useTranslation();
  return (
    <NumberInput
      {...form.getInputProps(name)}
      key={form.key(name)}
      label={t(`clip.${name}`)}
      min={0}
      decimalScale={3}
      allowNegative={false}
      hideControls
      required
    />
  );
}
