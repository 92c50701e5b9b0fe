// The workflow step in Go over plain HTTP, with nothing but the standard library: acknowledge the event, move the order from the
// version that was read, push the next event, in one transaction. Checks itself and ends with a status other than 0 on any doubt.
//
//	LOCKSTEP_URL=http://localhost:6632 go run .
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

const (
	group = "workflow"
	aDay  = 86_400
)

// object is a JSON object to send.
type object = map[string]any

type event struct {
	TransactionID string `json:"transactionId"`
	PartitionID   string `json:"partitionId"`
	Partition     string `json:"partition"`
	LeaseID       string `json:"leaseId"`
	Data          struct {
		OrderID string `json:"orderId"`
	} `json:"data"`
}

type order struct {
	Found bool `json:"found"`
	Value struct {
		Status string `json:"status"`
	} `json:"value"`
	Version int64 `json:"version"`
}

type committed struct {
	Success bool   `json:"success"`
	Reason  string `json:"reason"`
	err     error
}

type verdict struct {
	Success bool `json:"success"`
	Noop    bool `json:"noop"`
}

// run has names of its own, so that it says the same when it runs again.
type run struct {
	url, events, shipping, first, second string
	checks, readings                     int
}

func (r *run) check(holds bool, fact string) error {
	if !holds {
		return fmt.Errorf("not so: %s", fact)
	}
	r.checks++
	fmt.Printf("  ok: %s\n", fact)
	return nil
}

var client = &http.Client{Timeout: 40 * time.Second}

// call decodes the answer into out; 204 means that there is nothing to deliver and leaves out as it is. Whatever the broker calls
// an error is one here.
func (r *run) call(method, path string, in any, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, r.url+"/api/v1"+path, body)
	if err != nil {
		return err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	if len(text) == 0 || out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// commitStep is the step itself. The version is the one the decision was made on; Success is false when the order has moved.
func (r *run) commitStep(e event, version int64, shippingID string) (committed, error) {
	orderID := e.Data.OrderID
	var result committed
	err := r.call("POST", "/transaction", object{
		"operations": []object{
			{"type": "ack", "transactionId": e.TransactionID, "partitionId": e.PartitionID, "leaseId": e.LeaseID,
				"consumerGroup": group, "status": "completed"},
			{"type": "push", "items": []object{{"queue": r.shipping, "partition": orderID, "transactionId": shippingID,
				"payload": object{"orderId": orderID}}}},
		},
		"requiredLeases": []string{e.LeaseID},
		"kv": []object{{"op": "put", "ns": "orders", "key": orderID, "value": object{"status": "shipping"},
			"ttlSeconds": aDay, "expect": version, "required": true}},
	}, &result)
	return result, err
}

func (r *run) handle(e event) (string, error) {
	found, err := r.readOrder(e.Data.OrderID)
	if err != nil {
		return "", err
	}
	if found.Value.Status != "paid" {
		answer, err := r.ack(e)
		if err != nil || !answer.Success {
			return "refused", err
		}
		return "known", nil
	}
	// The work of the step goes here: charge the card, book the courier.
	result, err := r.commitStep(e, found.Version, "ship-"+e.Data.OrderID)
	if err != nil || !result.Success {
		return result.Reason, err
	}
	return "moved", nil
}

func (r *run) ack(e event) (verdict, error) {
	var verdicts []verdict
	err := r.call("POST", "/ack", object{"transactionId": e.TransactionID, "partitionId": e.PartitionID,
		"leaseId": e.LeaseID, "consumerGroup": group, "status": "completed"}, &verdicts)
	if err != nil {
		return verdict{}, err
	}
	if len(verdicts) != 1 {
		return verdict{}, fmt.Errorf("one ack got %d verdicts", len(verdicts))
	}
	return verdicts[0], nil
}

func (r *run) kv(operation object) (order, error) {
	var answer struct {
		Results []order `json:"results"`
	}
	if err := r.call("POST", "/kv", object{"operations": []object{operation}}, &answer); err != nil {
		return order{}, err
	}
	if len(answer.Results) != 1 {
		return order{}, errors.New("the state did not take the operation")
	}
	return answer.Results[0], nil
}

func (r *run) readOrder(orderID string) (order, error) {
	found, err := r.kv(object{"op": "get", "ns": "orders", "key": orderID})
	if err == nil && !found.Found {
		err = fmt.Errorf("the order %s is not there", orderID)
	}
	return found, err
}

func (r *run) acceptOrder(orderID string) (int64, error) {
	put, err := r.kv(object{"op": "put", "ns": "orders", "key": orderID, "value": object{"status": "paid"},
		"ttlSeconds": aDay, "expect": 0, "required": true})
	return put.Version, err
}

func (r *run) publish(partition, orderID string) error {
	item := object{"queue": r.events, "partition": partition, "payload": object{"orderId": orderID}}
	return r.call("POST", "/push", object{"items": []object{item}}, nil)
}

func (r *run) pop(queue string, query url.Values) ([]event, error) {
	var answer struct {
		Messages []event `json:"messages"`
	}
	err := r.call("GET", "/pop/queue/"+url.PathEscape(queue)+"?"+query.Encode(), nil, &answer)
	return answer.Messages, err
}

func (r *run) takeOne() (event, error) {
	events, err := r.pop(r.events, url.Values{"consumerGroup": {group}, "subscriptionMode": {"all"}, "batch": {"1"},
		"partitions": {"1"}, "wait": {"true"}, "timeout": {"20000"}})
	if err != nil {
		return event{}, err
	}
	if len(events) != 1 {
		return event{}, errors.New("an event was expected and none came")
	}
	return events[0], nil
}

// shippingEvents are all of them, each time: a group that is new reads the queue from its start and takes nothing from anybody.
func (r *run) shippingEvents() ([]event, error) {
	r.readings++
	return r.pop(r.shipping, url.Values{"consumerGroup": {fmt.Sprintf("reader-%d", r.readings)},
		"subscriptionMode": {"all"}, "batch": {"100"}, "partitions": {"10"}})
}

func main() {
	address := os.Getenv("LOCKSTEP_URL")
	if address == "" {
		address = "http://localhost:6632"
	}
	name := fmt.Sprintf("%x", time.Now().UnixMicro())
	r := &run{url: address, events: "go-order-events-" + name, shipping: "go-shipping-" + name,
		first: "order-" + name + "-1", second: "order-" + name + "-2"}
	if err := r.all(); err != nil {
		fmt.Fprintf(os.Stderr, "FAIL: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("PASS: %d checks\n", r.checks)
}
