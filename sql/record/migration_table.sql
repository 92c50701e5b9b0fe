-- purpose: the record of what was applied; made before the first migration, in the same transaction, and never again
-- index used: the primary keys
-- The schema may have been made before by somebody with the right to do so.

do $$
begin
  if pg_catalog.to_regnamespace('lockstep') is null then
    create schema lockstep;
  end if;
end
$$;

create table lockstep.migration (
  number int primary key,
  name text not null,
  checksum text not null,
  -- Code that does not know a breaking migration must not start on it.
  breaking boolean not null,
  phase text not null,
  applied_at timestamptz not null
);

-- The functions are replaced as one set; one row says which.
create table lockstep.function_set (
  single boolean primary key default true check (single),
  checksum text not null,
  version text not null,
  applied_at timestamptz not null
);
