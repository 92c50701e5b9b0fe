-- psql: an order and its workflow in one transaction of psql's own, then a job, then how a run stands.
-- Run it with: psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f submit.sql
create table if not exists orders (id int primary key, status text not null);

begin;
insert into orders values (1, 'pending');
-- The run exists when this transaction commits. The key makes a repeat find the same run.
select run_id, created from lockstep.submit('fulfil_order', '{"orderId": 1}', p_key => 'order-1') \gset
commit;
\echo submitted :created

-- The same key and input again: the run that is there.
select created, conflict from lockstep.submit('fulfil_order', '{"orderId": 1}', p_key => 'order-1') \gset
\echo again :created :conflict

-- Rolled back with its order: neither is there.
begin;
insert into orders values (2, 'pending');
select run_id as gone from lockstep.submit('fulfil_order', '{"orderId": 2}') \gset
rollback;
select count(*) as runs from lockstep.run_status(:'gone') \gset
\echo after the rollback :runs

-- One job of an action, not before an hour has passed.
select run_id as job from lockstep.enqueue('remind', '{"orderId": 1}', p_delay => interval '1 hour') \gset
select state as job_state from lockstep.run_status(:'job') \gset
\echo job :job_state

select state, workflow from lockstep.run_status(:'run_id') \gset
\echo run :workflow :state
\echo id :run_id
