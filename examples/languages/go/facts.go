// What the step promises, fact by fact, each checked against a running broker. Every fact that does not hold ends the run.
package main

// fails stops at the first error of a list that was worked out in order.
func fails(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) all() error {
	paid, err := r.oneStep()
	if err != nil {
		return err
	}
	for _, fact := range []func() error{r.redelivered, r.race, func() error { return r.oldVersion(paid) }} {
		if err := fact(); err != nil {
			return err
		}
	}
	return fails(r.call("DELETE", "/resources/queues/"+r.events, nil, nil),
		r.call("DELETE", "/resources/queues/"+r.shipping, nil, nil))
}

func (r *run) handleNext() (string, error) {
	e, err := r.takeOne()
	if err != nil {
		return "", err
	}
	return r.handle(e)
}

func (r *run) oneStep() (int64, error) {
	paid, err := r.acceptOrder(r.first)
	if err := fails(err, r.publish(r.first, r.first)); err != nil {
		return 0, err
	}
	said, err := r.handleNext()
	if err := fails(err, r.check(said == "moved", "the step moved the order")); err != nil {
		return 0, err
	}
	moved, err := r.readOrder(r.first)
	if err != nil {
		return 0, err
	}
	shipped, err := r.shippingEvents()
	if err != nil {
		return 0, err
	}
	if err := fails(
		r.check(moved.Value.Status == "shipping" && moved.Version > paid, "the order is shipping, at a later version"),
		r.check(len(shipped) == 1 && shipped[0].TransactionID == "ship-"+r.first, "one shipping event was pushed")); err != nil {
		return 0, err
	}
	return paid, r.check(shipped[0].Partition == r.first, "it is in the order's own partition")
}

func (r *run) redelivered() error {
	before, err := r.readOrder(r.first)
	if err != nil {
		return err
	}
	seek := "/consumer-groups/" + group + "/queues/" + r.events + "/seek"
	if err := r.call("POST", seek, object{"timestamp": "2000-01-01T00:00:00Z"}, nil); err != nil {
		return err
	}
	said, err := r.handleNext()
	if err := fails(err, r.check(said == "known", "the redelivered event was only acknowledged")); err != nil {
		return err
	}
	after, err := r.readOrder(r.first)
	if err := fails(err, r.check(after == before, "it did not write the order again")); err != nil {
		return err
	}
	shipped, err := r.shippingEvents()
	return fails(err, r.check(len(shipped) == 1, "it pushed nothing"))
}

func (r *run) race() error {
	if _, err := r.acceptOrder(r.second); err != nil {
		return err
	}
	var events [2]event
	for desk, name := range []string{"a", "b"} {
		if err := r.publish(r.second+"-"+name, r.second); err != nil {
			return err
		}
		taken, err := r.takeOne()
		if err != nil {
			return err
		}
		events[desk] = taken
	}
	// Both have read the order before either commits.
	paid, err := r.readOrder(r.second)
	if err != nil {
		return err
	}
	var ended [2]chan committed
	for desk := range events {
		ended[desk] = make(chan committed, 1)
		go func(desk int) {
			result, err := r.commitStep(events[desk], paid.Version, "ship-"+r.second)
			result.err = err
			ended[desk] <- result
		}(desk)
	}
	results := [2]committed{<-ended[0], <-ended[1]}
	if err := fails(results[0].err, results[1].err,
		r.check(results[0].Success != results[1].Success, "of two workers with the same version one won")); err != nil {
		return err
	}
	lost := 0
	if results[0].Success {
		lost = 1
	}
	said, err := r.handle(events[lost])
	if err := fails(err,
		r.check(results[lost].Reason == "kv_precondition", "the other was told that the order had moved"),
		r.check(said == "known", "its event was still its own to acknowledge")); err != nil {
		return err
	}
	shipped, err := r.shippingEvents()
	ours := 0
	for _, e := range shipped {
		if e.Data.OrderID == r.second {
			ours++
		}
	}
	return fails(err, r.check(ours == 1, "one shipping event came of the two"))
}

func (r *run) oldVersion(paid int64) error {
	before, err := r.readOrder(r.first)
	if err := fails(err, r.publish(r.first, r.first)); err != nil {
		return err
	}
	e, err := r.takeOne()
	if err != nil {
		return err
	}
	result, err := r.commitStep(e, paid, "ship-again-"+r.first)
	refused := !result.Success && result.Reason == "kv_precondition"
	if err := fails(err, r.check(refused, "the step from the old version was refused")); err != nil {
		return err
	}
	after, err := r.readOrder(r.first)
	if err := fails(err, r.check(after == before, "it did not write the order")); err != nil {
		return err
	}
	shipped, err := r.shippingEvents()
	if err := fails(err, r.check(len(shipped) == 2, "it pushed nothing")); err != nil {
		return err
	}
	answer, err := r.ack(e)
	return fails(err, r.check(answer.Success && !answer.Noop, "it acknowledged nothing"))
}
