// A client-go and controller-runtime program against the API server named by $KUBECONFIG: each step prints "ok STEP" or ends the program.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const namespace = "default"

type step struct {
	name string
	run  func(context.Context, *rest.Config, kubernetes.Interface) error
}

var steps = []step{
	{"protobuf objects come back as they went", protobufRoundTrip},
	{"an informer syncs by a watch-list and keeps up", informer},
	{"a watch resumes and a stale one is told so", resume},
	{"server-side apply owns, conflicts and forces", apply},
	{"conflicts are retried", conflicts},
	{"of two candidates one leads, then the other", election},
	{"a reconciler owns a ConfigMap", reconciler},
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fail("kubeconfig", err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	clients := kubernetes.NewForConfigOrDie(config)
	for _, s := range steps {
		if err := s.run(ctx, config, clients); err != nil {
			fail(s.name, err)
		}
		fmt.Println("ok", s.name)
	}
}

func fail(what string, err error) {
	fmt.Printf("failed %s: %v\n", what, err)
	os.Exit(1)
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"part": "go"}}, Data: data}
}

func protobufRoundTrip(ctx context.Context, _ *rest.Config, clients kubernetes.Interface) error {
	seconds := int64(5)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "go-"},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &seconds,
			Containers: []corev1.Container{{
				Name: "c", Image: "registry.example/c:1",
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}},
			}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
	made, err := clients.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if made.UID == "" || made.Spec.Containers[0].ReadinessProbe.Exec == nil || made.Spec.Volumes[0].EmptyDir == nil || *made.Spec.TerminationGracePeriodSeconds != 5 {
		return fmt.Errorf("something was lost: %v", made)
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		got, err := clients.CoreV1().Pods(namespace).Get(ctx, made.Name, metav1.GetOptions{})
		return err == nil && got.Status.Phase == corev1.PodRunning, err
	})
	if err != nil {
		return err
	}
	return clients.CoreV1().Pods(namespace).Delete(ctx, made.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &made.UID}})
}

func informer(ctx context.Context, _ *rest.Config, clients kubernetes.Interface) error {
	maps := clients.CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(ctx, configMap("before", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	shared := factory.Core().V1().ConfigMaps()
	var added, updated, deleted atomic.Int32
	_, err := shared.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), shared.Informer().HasSynced) {
		return fmt.Errorf("never synced")
	}
	if _, err := shared.Lister().ConfigMaps(namespace).Get("before"); err != nil {
		return err
	}
	made, err := maps.Create(ctx, configMap("after", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data = map[string]string{"k": "v"}
	if _, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err = maps.Delete(ctx, "after", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		return added.Load() >= 2 && updated.Load() >= 1 && deleted.Load() == 1, nil
	})
}

func resume(ctx context.Context, _ *rest.Config, clients kubernetes.Interface) error {
	maps := clients.CoreV1().ConfigMaps(namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if _, err = maps.Create(ctx, configMap("seen", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	for range 2 {
		stream, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, LabelSelector: "part=go"})
		if err != nil {
			return err
		}
		event := <-stream.ResultChan()
		stream.Stop()
		if event.Type != watch.Added || event.Object.(*corev1.ConfigMap).Name != "seen" {
			return fmt.Errorf("saw %v %v", event.Type, event.Object)
		}
	}
	_, err = maps.List(ctx, metav1.ListOptions{ResourceVersion: "999999999", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if !apierrors.IsTimeout(err) {
		return fmt.Errorf("a version of the future: %v", err)
	}
	return nil
}

func apply(ctx context.Context, _ *rest.Config, clients kubernetes.Interface) error {
	maps := clients.CoreV1().ConfigMaps(namespace)
	wanted := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"a": "1", "b": "2"})
	if _, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	other := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"a": "2"})
	if _, err := maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"}); !apierrors.IsConflict(err) {
		return fmt.Errorf("no conflict: %v", err)
	}
	forced, err := maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	if forced.Data["a"] != "2" || forced.Data["b"] != "2" || len(forced.ManagedFields) != 2 {
		return fmt.Errorf("forced to %v by %v", forced.Data, forced.ManagedFields)
	}
	extracted, err := corev1apply.ExtractConfigMap(forced, "one")
	if err != nil {
		return err
	}
	if len(extracted.Data) != 1 || extracted.Data["b"] != "2" {
		return fmt.Errorf("one still owns %v", extracted.Data)
	}
	return nil
}

func conflicts(ctx context.Context, _ *rest.Config, clients kubernetes.Interface) error {
	maps := clients.CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(ctx, configMap("counted", map[string]string{}), metav1.CreateOptions{}); err != nil {
		return err
	}
	done := make(chan error)
	for worker := range 4 {
		go func() {
			done <- retry.OnError(wait.Backoff{Steps: 50, Duration: 5 * time.Millisecond, Jitter: 1}, apierrors.IsConflict, func() error {
				got, err := maps.Get(ctx, "counted", metav1.GetOptions{})
				if err != nil {
					return err
				}
				if got.Data == nil {
					got.Data = map[string]string{}
				}
				got.Data[fmt.Sprint(worker)] = "done"
				_, err = maps.Update(ctx, got, metav1.UpdateOptions{})
				return err
			})
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			return err
		}
	}
	got, err := maps.Get(ctx, "counted", metav1.GetOptions{})
	if err == nil && len(got.Data) != 4 {
		err = fmt.Errorf("lost updates: %v", got.Data)
	}
	return err
}

func election(ctx context.Context, _ *rest.Config, clients kubernetes.Interface) error {
	leads := make(chan string, 2)
	candidate := func(name string) context.CancelFunc {
		own, cancel := context.WithCancel(ctx)
		go leaderelection.RunOrDie(own, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "go", Namespace: namespace},
				Client:     clients.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			ReleaseOnCancel: true,
			LeaseDuration:   3 * time.Second,
			RenewDeadline:   2 * time.Second,
			RetryPeriod:     200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads <- name },
				OnStoppedLeading: func() {},
			},
		})
		return cancel
	}
	stopFirst := candidate("first")
	if name := <-leads; name != "first" {
		return fmt.Errorf("%s leads", name)
	}
	stopSecond := candidate("second")
	defer stopSecond()
	select {
	case name := <-leads:
		return fmt.Errorf("%s leads too", name)
	case <-time.After(600 * time.Millisecond):
	}
	stopFirst()
	select {
	case name := <-leads:
		if name != "second" {
			return fmt.Errorf("%s leads again", name)
		}
	case <-time.After(20 * time.Second):
		return fmt.Errorf("nobody takes over")
	}
	return nil
}

// Every Secret labelled mirror=yes is to have a ConfigMap of the same name, owned by it.
type mirror struct{ client.Client }

func (m *mirror) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var secret corev1.Secret
	if err := m.Get(ctx, request.NamespacedName, &secret); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if secret.Labels["mirror"] != "yes" {
		return ctrl.Result{}, nil
	}
	copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: secret.Name, Namespace: secret.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, m.Client, copied, func() error {
		copied.Data = map[string]string{"keys": fmt.Sprint(len(secret.Data))}
		return controllerutil.SetControllerReference(&secret, copied, m.Scheme())
	})
	return ctrl.Result{}, err
}

func reconciler(ctx context.Context, config *rest.Config, clients kubernetes.Interface) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.Secret{}).Owns(&corev1.ConfigMap{}).Complete(&mirror{manager.GetClient()})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "mirrored", Namespace: namespace, Labels: map[string]string{"mirror": "yes"}}, StringData: map[string]string{"a": "1"}}
	if secret, err = clients.CoreV1().Secrets(namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return err
	}
	maps := clients.CoreV1().ConfigMaps(namespace)
	until := func(what string, check func(*corev1.ConfigMap, error) bool) error {
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
			got, err := maps.Get(ctx, "mirrored", metav1.GetOptions{})
			return check(got, err), nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	has := func(keys string) func(*corev1.ConfigMap, error) bool {
		return func(got *corev1.ConfigMap, err error) bool {
			return err == nil && got.Data["keys"] == keys && metav1.IsControlledBy(got, secret)
		}
	}
	if err = until("made", has("1")); err != nil {
		return err
	}
	if err = maps.Delete(ctx, "mirrored", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err = until("made again", has("1")); err != nil {
		return err
	}
	patch := []byte(`{"stringData":{"b":"2"}}`)
	if _, err = clients.CoreV1().Secrets(namespace).Patch(ctx, "mirrored", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	if err = until("changed", has("2")); err != nil {
		return err
	}
	if err = clients.CoreV1().Secrets(namespace).Delete(ctx, "mirrored", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err = until("collected with its owner", func(_ *corev1.ConfigMap, err error) bool { return apierrors.IsNotFound(err) }); err != nil {
		return err
	}
	cancel()
	return <-ended
}
