import {
  NativeSelect,
  NumberInput,
  Radio,
  SimpleGrid,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { FormActions } from '../../components/form-actions.tsx';
import { centsOf, dollarsOf, MoneyInput, type MoneyInputValue } from '../../components/money-input.tsx';
import { Panel } from '../../components/panel.tsx';
import { usePriceWords } from './tier-labels.ts';

type Tier = Shape<'Tier'>;

const MAX_BENEFITS = 20;
const MAX_BENEFIT = 200;
/** Less than this cannot be charged to a card. */
const MIN_PRICE_CENTS = 50;
const MAX_COUNT = 1_000_000_000;

function valuesOf(tier: Tier | null) {
  const maxMembers: MoneyInputValue = tier?.maxMembers ?? '';
  return {
    name: tier?.name ?? '',
    description: tier?.description ?? '',
    price: dollarsOf(tier?.priceCents ?? null),
    interval: tier?.interval ?? 'MONTH',
    trialDays: tier?.trialDays ?? 0,
    benefits: (tier?.benefits ?? []).join('\n'),
    maxMembers,
    position: tier?.position ?? 0,
    isActive: tier?.isActive ?? true,
    members: 'keep',
  };
}

type Values = ReturnType<typeof valuesOf>;

const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || []);

function settingsOf(values: Values) {
  const { name, description, trialDays, maxMembers, isActive, position } = values;
  return {
    ...{ name, trialDays, isActive, position },
    description: description.trim() === '' ? null : description,
    priceCents: centsOf(values.price) ?? 0,
    benefits: linesOf(values.benefits),
    maxMembers: maxMembers === '' ? null : Number(maxMembers),
  };
}

function useTierForm(tier: Tier | null) {
  const { t } = useTranslation('monetization');
  return useForm({
    initialValues: valuesOf(tier),
    validate: {
      price: (price: MoneyInputValue) => {
        const cents = centsOf(price);
        return cents === null || (cents > 0 && cents < MIN_PRICE_CENTS) ? t('tier.priceWrong') : null;
      },
      benefits: (text: string) => {
        const lines = linesOf(text);
        const isFine = lines.length <= MAX_BENEFITS && lines.every((line) => line.length <= MAX_BENEFIT);
        return isFine ? null : t('tier.benefitsWrong');
      },
    },
  });
}

type Form = ReturnType<typeof useTierForm>;

interface Props {
  /** Null: a new one. */
  tier: Tier | null;
  onClose: () => void;
}

/** Creates or edits a tier, in place. */
export function TierForm({ tier, onClose }: Props) {
  const { t } = useTranslation('monetization');
  const form = useTierForm(tier);
  useUnsaved(form);
  const options = {
    meta: { errors: 'form' } as const,
    onError: formErrors(form, { priceCents: 'price' }),
    onSuccess: () => {
      form.resetDirty();
      showSuccess(t('tier.saved'));
      onClose();
      return queries.invalidateQueries({ queryKey: ['get', '/tiers'] });
    },
  };
  const create = $api.useMutation('post', '/tiers', options);
  const update = $api.useMutation('patch', '/tiers/{id}', options);
  const submit = (values: Values) => {
    const settings = settingsOf(values);
    if (tier === null) {
      const interval = values.interval === 'YEAR' ? ('YEAR' as const) : ('MONTH' as const);
      return create.mutate({ body: { ...settings, interval } });
    }
    const body = { ...settings, migrateExisting: values.members === 'migrate' };
    update.mutate({ params: { path: { id: tier.id } }, body });
  };
  return (
    <Panel title={tier === null ? t('tier.new') : t('tier.edit', { name: tier.name })}>
      <form noValidate onSubmit={form.onSubmit(submit)}>
        <Stack>
          <AboutFields form={form} />
          <PriceFields form={form} tier={tier} />
          <PlaceFields form={form} />
          <FormActions
            submit={tier === null ? t('tier.create') : t('tier.save')}
            isPending={create.isPending || update.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Panel>
  );
}

function AboutFields({ form }: { form: Form }) {
  const { t } = useTranslation('monetization');
  return (
    <>
      <TextInput
        {...form.getInputProps('name')}
        label={t('tier.name')}
        maxLength={80}
        dir="auto"
        required
        autoFocus
      />
      <Textarea
        {...form.getInputProps('description')}
        label={t('tier.description')}
        maxLength={2000}
        minRows={2}
        autosize
        dir="auto"
      />
      <Textarea
        {...form.getInputProps('benefits')}
        label={t('tier.benefits')}
        description={t('tier.benefitsHint')}
        minRows={3}
        autosize
        dir="auto"
      />
    </>
  );
}

function PriceFields({ form, tier }: { form: Form; tier: Tier | null }) {
  const { t } = useTranslation('monetization');
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <MoneyInput
          {...form.getInputProps('price')}
          label={t('tier.price')}
          description={t('tier.priceHint')}
          required
        />
        <NativeSelect
          {...form.getInputProps('interval')}
          size="md"
          label={t('tier.interval')}
          description={tier === null ? t('tier.intervalHint') : t('tier.intervalFixed')}
          disabled={tier !== null}
          data={(['MONTH', 'YEAR'] as const).map((value) => ({ value, label: t(`interval.${value}`) }))}
        />
        <NumberInput
          {...form.getInputProps('trialDays')}
          size="md"
          label={t('tier.trialDays')}
          description={t('tier.trialHint')}
          min={0}
          max={90}
          allowDecimal={false}
          allowNegative={false}
          hideControls
          required
        />
      </SimpleGrid>
      {tier !== null && (tier.memberCount ?? 0) > 0 && <PriceOfMembers form={form} tier={tier} />}
    </>
  );
}

/** Shows the price that existing members pay. */
function PriceOfMembers({ form, tier }: { form: Form; tier: Tier }) {
  const { t } = useTranslation('monetization');
  const price = usePriceWords();
  const { interval, memberCount } = tier;
  const next = price(centsOf(form.getValues().price) ?? 0, interval);
  return (
    <Radio.Group {...form.getInputProps('members')} label={t('tier.members', { count: memberCount ?? 0 })}>
      <Stack mt="xs" gap="xs">
        <Radio value="keep" label={t('tier.keep')} description={t('tier.keepMeans')} />
        <Radio
          value="migrate"
          label={t('tier.migrate')}
          description={t('tier.migrateMeans', { price: next })}
        />
      </Stack>
    </Radio.Group>
  );
}

function PlaceFields({ form }: { form: Form }) {
  const { t } = useTranslation('monetization');
  const whole = { size: 'md', allowDecimal: false, allowNegative: false, hideControls: true } as const;
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NumberInput
          {...form.getInputProps('maxMembers')}
          {...whole}
          label={t('tier.maxMembers')}
          description={t('tier.maxMembersHint')}
          min={1}
          max={MAX_COUNT}
        />
        <NumberInput
          {...form.getInputProps('position')}
          {...whole}
          label={t('tier.position')}
          description={t('tier.positionHint')}
          min={0}
          max={MAX_COUNT}
          required
        />
      </SimpleGrid>
      <Switch
        {...form.getInputProps('isActive', { type: 'checkbox' })}
        label={t('tier.isActive')}
        description={t('tier.isActiveHint')}
      />
    </>
  );
}
