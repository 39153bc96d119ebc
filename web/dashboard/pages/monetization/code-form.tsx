import {
  NativeSelect,
  NumberInput,
  SegmentedControl,
  SimpleGrid,
  Stack,
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
import { instantOf, localTime } from '../../components/local-time.ts';
import { centsOf, dollarsOf, MoneyInput, type MoneyInputValue } from '../../components/money-input.tsx';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';

type Code = Shape<'DiscountCode'>;

/** Maximum products of one page of the list. */
const PRODUCTS = 100;
const MAX_USES = 2_147_483_647;

function valuesOf(code: Code | null) {
  const percent: MoneyInputValue = code?.percentOff ?? '';
  const maxUses: MoneyInputValue = code?.maxUses ?? '';
  const { expiresAt = null, amountCentsOff = null } = code ?? {};
  return {
    code: code?.code ?? '',
    productId: code?.productId ?? '',
    kind: amountCentsOff === null ? 'percent' : 'amount',
    percent,
    amount: dollarsOf(amountCentsOff),
    maxUses,
    expiresAt: localTime(expiresAt),
    notes: code?.notes ?? '',
  };
}

type Values = ReturnType<typeof valuesOf>;

/** Returns the fields that can be changed at any time. */
function laterOf({ maxUses, expiresAt, notes }: Values) {
  return {
    maxUses: maxUses === '' ? null : Number(maxUses),
    expiresAt: instantOf(expiresAt),
    notes: notes.trim() === '' ? null : notes,
  };
}

/** Returns the fields that cannot be changed after the first redemption. */
function discountOf({ code, productId, kind, percent, amount }: Values) {
  const isPercent = kind === 'percent';
  return {
    code: code.trim(),
    productId: productId === '' ? null : productId,
    percentOff: isPercent && percent !== '' ? Number(percent) : null,
    amountCentsOff: isPercent ? null : centsOf(amount),
  };
}

function useCodeForm(code: Code | null) {
  return useForm({ initialValues: valuesOf(code) });
}

type Form = ReturnType<typeof useCodeForm>;

interface Props {
  /** Null: a new one. */
  code: Code | null;
  onClose: () => void;
}

/** Creates or edits a discount code, in place. */
export function CodeForm({ code, onClose }: Props) {
  const { t } = useTranslation('monetization');
  const form = useCodeForm(code);
  useUnsaved(form);
  const options = {
    meta: { errors: 'form' } as const,
    onError: formErrors(form, {
      percentOff: form.getValues().kind === 'percent' ? 'percent' : 'amount',
      amountCentsOff: 'amount',
    }),
    onSuccess: () => {
      form.resetDirty();
      showSuccess(t('code.saved'));
      onClose();
      return queries.invalidateQueries({ queryKey: ['get', '/booking/discount-codes'] });
    },
  };
  const create = $api.useMutation('post', '/booking/discount-codes', options);
  const update = $api.useMutation('patch', '/booking/discount-codes/{id}', options);
  const isUsed = (code?.usedCount ?? 0) > 0;
  const submit = (values: Values) => {
    const whole = { ...discountOf(values), ...laterOf(values) };
    if (code === null) return create.mutate({ body: whole });
    const body = isUsed ? laterOf(values) : whole;
    update.mutate({ params: { path: { id: code.id } }, body });
  };
  return (
    <Panel title={code === null ? t('code.new') : t('code.edit', { code: code.code })}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <DiscountFields form={form} isUsed={isUsed} />
          <LimitFields form={form} />
          <FormActions
            submit={code === null ? t('code.create') : t('code.save')}
            isPending={create.isPending || update.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Panel>
  );
}

function DiscountFields({ form, isUsed }: { form: Form; isUsed: boolean }) {
  const { t } = useTranslation('monetization');
  const isPercent = form.getValues().kind === 'percent';
  return (
    <>
      <TextInput
        {...form.getInputProps('code')}
        label={t('code.code')}
        description={isUsed ? t('code.fixed') : t('code.codeHint')}
        maxLength={64}
        dir="ltr"
        spellCheck={false}
        autoComplete="off"
        required
        disabled={isUsed}
      />
      <ProductSelect form={form} isUsed={isUsed} />
      <SegmentedControl
        {...form.getInputProps('kind')}
        aria-label={t('code.kind')}
        disabled={isUsed}
        data={(['percent', 'amount'] as const).map((value) => ({ value, label: t(`kind.${value}`) }))}
      />
      {isPercent ? (
        <NumberInput
          {...form.getInputProps('percent')}
          size="md"
          label={t('code.percent')}
          description={t('code.firstOnly')}
          min={1}
          max={100}
          allowDecimal={false}
          allowNegative={false}
          hideControls
          required
          disabled={isUsed}
        />
      ) : (
        <MoneyInput
          {...form.getInputProps('amount')}
          label={t('code.amount')}
          description={t('code.firstOnly')}
          min={0.01}
          required
          disabled={isUsed}
        />
      )}
    </>
  );
}

/** Selects the scope of the code: everything on sale, or one booking product. */
function ProductSelect({ form, isUsed }: { form: Form; isUsed: boolean }) {
  const { t } = useTranslation('monetization');
  const { data } = $api.useQuery('get', '/booking/products', { params: { query: { limit: PRODUCTS } } });
  const products = (data?.data ?? []).map(({ id, title }) => ({ value: id, label: title }));
  const { productId } = form.getValues();
  const isListed = productId === '' || products.some(({ value }) => value === productId);
  if (isListed && products.length === 0) return null;
  return (
    <NativeSelect
      {...form.getInputProps('productId')}
      size="md"
      label={t('code.product')}
      disabled={isUsed}
      data={[
        { value: '', label: t('code.everything') },
        ...products,
        ...(isListed ? [] : [{ value: productId, label: productId }]),
      ]}
    />
  );
}

function LimitFields({ form }: { form: Form }) {
  const { t } = useTranslation('monetization');
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NumberInput
          {...form.getInputProps('maxUses')}
          size="md"
          label={t('code.maxUses')}
          description={t('code.maxUsesHint')}
          min={1}
          max={MAX_USES}
          allowDecimal={false}
          allowNegative={false}
          hideControls
        />
        <TextInput
          {...form.getInputProps('expiresAt')}
          type="datetime-local"
          label={t('code.expiresAt')}
          description={t('code.expiresHint')}
        />
      </SimpleGrid>
      <TimeZoneNote />
      <Textarea
        {...form.getInputProps('notes')}
        label={t('code.notes')}
        description={t('code.notesHint')}
        maxLength={500}
        autosize
        dir="auto"
      />
    </>
  );
}
